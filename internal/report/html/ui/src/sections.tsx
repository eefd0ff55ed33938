// Views of sections that few reports have. Their script is in those only.

import { BranchView } from "./branches";
import { Code } from "./code";
import { OffCPU } from "./offcpu";
import { PipelineView } from "./pipeline";
import { SourceView } from "./source";

Object.assign((globalThis as unknown as { profdiff: object }).profdiff, { branches: BranchView, offcpu: OffCPU, pipeline: PipelineView, code: Code, source: SourceView });
