// The form of the blocks: see meta.go, blocks.go and document.go.

export type Change = {
  base: number; head: number; base_samples: number; head_samples: number;
  ratio: number | null; lo: number | null; hi: number | null;
  verdict: string; adjusted_p: number; runs_needed: number; base_runs?: number[]; head_runs?: number[];
  /** Of one run a side: the sign of what is furthest from noise. */
  lead?: string;
};

export type EventMeta = {
  name: string; unit: string; per: string; share: boolean; single: boolean; off_cpu: boolean; amount?: boolean; devices?: boolean; withheld: string; how: string[];
  total: Change; functions: number; frames: number; all_frames: number; least: number;
};

export type Meta = {
  schema: string; id: string; tool: string; drawn_by?: string; title: string; base: string; head: string;
  verdict: { outcome: string; sentence: string; ground: string[] };
  warnings: string[]; events: EventMeta[]; blocks: string[];
  /** The event that the page is about, an index of events; absent for the first. */
  main?: number;
};

export type TestColumns = {
  at: number[]; ratio: (number | null)[]; lo: (number | null)[]; hi: (number | null)[]; p: number[]; runs: number[]; verdict: string;
  withRuns: number[]; baseRuns: number[][]; headRuns: number[][];
};

export type GroupRow = { name: string; change: Change };
export type Group = { by: string; rows: GroupRow[] };
export type Shift = { caller: number; parts: number[]; net: Change };

/** Integers as letters say them; in pages of older versions an array. */
export type Packed = string | ArrayLike<number>;

export type EventBlock = {
  name: number[]; dso: number[];
  /** Of functions whose frames do not say it, which are all in pages of older versions. */
  selfAt?: number[]; selfBase: number[]; selfHead: number[]; totalAt?: number[]; totalBase: number[]; totalHead: number[];
  /** Of functions, in steps, whose costs differ from those of their frames, by how many eighths of a quantum. */
  selfNear?: Packed; selfNearBase?: Packed; selfNearHead?: Packed; totalNear?: Packed; totalNearBase?: Packed; totalNearHead?: Packed;
  nBase: number[]; nHead: number[];
  matched: number[]; match: number[]; baseName: number[]; baseDSO: number[]; reason: number[]; confidence: number[];
  /** Functions with a reason, its text, and the tab that has the evidence, "" for the card. Absent if there are none. */
  why?: number[]; whyText?: number[]; whyView?: number[];
  shifted: number[]; shift: number[]; shifts: Shift[]; self: TestColumns; total: TestColumns; groups: Group[];
  frames: { quantum: number; up: number[]; known?: string; fn: Packed; base: number[]; head: number[]; innerAt?: number[]; innerBase?: number[]; innerHead?: number[]; flags: string; threads?: number[]; threadAt?: number[]; thread?: number[] };
};

export type TimesBlock = {
  bin: number; bins: number; threads: string[]; after?: string[]; others: number; base: number; length: number[]; untimed: (number | null)[]; single: boolean;
  quantum: number; cells: number[]; step: number[]; value: number[];
  stacks: { quantum: number; kept: number; head: number; thread: number[]; frame: number[]; cells: number[]; step: number[]; value: number[] };
};

export type LineColumns = {
  function: number[]; file: number[]; text: number[]; base: number[]; head: number[]; selfBase: number[]; selfHead: number[]; self: TestColumns; texts: string[];
};
export type Line = { file: string; base: number; head: number; text: string; self: Change };

export type ListingRow = {
  BaseOffset: number; HeadOffset: number; BaseText: string; HeadText: string; BaseSamples: number; HeadSamples: number;
  File: string; Line: number; Source: string; Inlined?: { Callee: string; File: string; Line: number }[];
};
export type Listing = { Function: string; DSO: string; Event: string; BaseSamples: number; HeadSamples: number; Rows: ListingRow[]; Note: string };

export type SourceRow = { Base: number; Head: number; Text: string; Was?: string };
export type SourceFunction = { Name: string; DSO: string; BaseFile: string; HeadFile: string; Rows: SourceRow[] | null; Withheld: string };
export type Sources = { Base: string; Head: string; Functions: SourceFunction[] | null; LeftOut: number; Notes: string[] | null };

export type Fact = { Name: string; Text: string };
export type BranchSource = { Name: string; Tool: string; CPU: string; Tier: string; Means: string; Events: string[] | null; Unknown: string; Counts: string; Facts: Fact[] | null };
export type BranchSide = {
  Executed: number | null; Misses: number | null; OfTaken: number | null; OfTakenCI: [number, number] | null; N: number; Samples: number; Rate: number | null; Bounds: [number, number] | null; CI: [number, number] | null; Bounded: boolean;
  Taken: number | null; TakenCI: [number, number] | null; MPKI: number | null; Lost: [number, number] | null; Confidence: string; Class: string; Enough: boolean;
};
export type Branch = {
  Function: string; DSO: string; Place: string; File: string; Line: number; BaseLine?: number; Kind: string; Base: BranchSide | null; Head: BranchSide | null;
  Verdict: string; Adjusted: number; Change: string; Code: number;
};
export type CodeInst = { Offset: number; Text: string; Branch: number };
export type CodeRow = { Base: CodeInst | null; Head: CodeInst | null; File: string; Line: number; Source: string };
export type FunctionMisses = { Misses: number; CI: [number, number] | null; Samples: number; Rate: string; MPKI: string };
export type BranchFunction = { Name: string; DSO: string; PMU: string; Base: FunctionMisses | null; Head: FunctionMisses | null; Verdict: string; Change: string };
export type Branches = {
  Base: BranchSource | null; Head: BranchSource | null; Rows: Branch[] | null; Hidden: number; Functions: BranchFunction[] | null;
  Code: { Function: string; DSO: string; Rows: CodeRow[] }[] | null;
};

export type Estimate = { Value: number; Lo: number; Hi: number };
export type Step = { Iteration: number; Index: number; Text: string; Mark: string; Dispatched: number; Ready: number; Issued: number; Executed: number; Retired: number };
export type LoopSide = {
  Throughput: number; Lo: number; Hi: number; IPC: number; Bottleneck: string; Cycles: { Name: string; Cycles: number }[] | null;
  Instructions: number; Mispredicted: number; MissCost: number;
  Ways: { Name: string; Instructions: number; Once: number; Steady: number }[] | null; AllWays: boolean; Timeline: Step[] | null; Drawn: string;
};
export type Loop = {
  Name: string; Unit: string; RateSource: string; Base: LoopSide | null; Head: LoopSide | null; Predicted: Estimate | null; Measured: Estimate | null; MeasuredBy: string;
  Program: Estimate | null; Share: number | null; NotPredicted?: string; Verdict?: string; Doubt?: string; Remedy?: string; MoreWays?: string;
  BreakEven: { Rate: number; Speedup: number; Lo: number; Hi: number }[] | null; At: number | null; Rate: Estimate | null; Says: string; Notes: string[] | null;
};
export type Pipeline = { Model: string; Tool: string; StandIn: string; Core: string; Refill: string; Loops: Loop[] | null };

export type Run = {
  Head: boolean; Name: string; Format: string; Tool: string; Command: string; Machine: string; Kernel: string; Start: string; At: number; DurationNS: number;
  In: number; Out: number; Filtered: number; Lost: number; Dropped: { Name: string; N: number }[] | null; UnknownShare: number; Truncated: number;
  Builds: string[] | null; Digest: string; Events: { Name: string; Samples: number; Weight: number; Unit: string; Lost: number }[] | null; Warnings: string[] | null;
};
export type Data = { Runs: Run[] | null; Facts: Fact[] | null };
