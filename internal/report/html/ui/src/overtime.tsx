// The view over time. Its script is in reports of recordings that tell when samples were taken.

import { TimesView } from "./times";

Object.assign((globalThis as unknown as { profdiff: object }).profdiff, { times: TimesView });
