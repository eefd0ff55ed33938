// What the first view does not need, in a script of its own.

import { DataView } from "./datatab";
import { Keys, Share } from "./share";

Object.assign((globalThis as unknown as { profdiff: object }).profdiff, { data: DataView, keys: Keys, sharing: Share });
