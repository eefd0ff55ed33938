// Blocks of the page and what is made of them. Names are never keys of objects.

import { invert } from "./merged";
import type { Change, EventBlock, EventMeta, Meta, Packed, TestColumns } from "./types";

export const byID = (id: string) => document.getElementById(id);

export function readMeta(): Meta {
  return JSON.parse(byID("meta")!.textContent!);
}

/** Decodes base64 and gunzips. */
export async function inflate<T>(name: string): Promise<T> {
  const text = byID(name)!.textContent!;
  // Newer browsers do at once what takes a loop.
  const bytes = (Uint8Array as { fromBase64?: (s: string) => Uint8Array<ArrayBuffer> }).fromBase64?.(text) ?? codes(atob(text));
  return new Response(new Response(bytes).body!.pipeThrough(new DecompressionStream("gzip"))).json();
}

/** The codes of letters, without an iterator, which takes ten times as long. */
function codes(s: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(s.length);
  for (let i = 0; i < s.length; i++) out[i] = s.charCodeAt(i);
  return out;
}

const pending = new Map<string, Promise<unknown>>();

function once<T>(key: string, make: () => Promise<T>): Promise<T> {
  let p = pending.get(key);
  if (!p) pending.set(key, (p = make()));
  return p as Promise<T>;
}

/** A block, inflated once. */
export const block = <T>(name: string) => once(name, () => inflate<T>(name));

export const GREW = 1, SHRANK = 2, ONLY_HEAD = 4, ONLY_BASE = 8;

/** A call tree in preorder. Of a row of n smaller frames fn is -1-n, of the root -1. */
export class Tree {
  readonly parent: Int32Array;
  readonly end: Int32Array;
  readonly totalBase: Float64Array;
  readonly totalHead: Float64Array;
  readonly depth: number;
  /** Where there are several: the names of threads, and by frame the one that has most of it, -1 if none does. */
  threads?: string[];
  thread?: Int32Array;
  constructor(
    readonly level: Int32Array, readonly fn: Int32Array, readonly selfBase: Float64Array, readonly selfHead: Float64Array, readonly flags: Uint8Array,
    shape?: Tree,
  ) {
    const n = level.length;
    const parent = (this.parent = shape?.parent ?? new Int32Array(n)), end = (this.end = shape?.end ?? new Int32Array(n));
    let depth = shape ? shape.depth - 1 : 0;
    if (!shape) {
      const path = new Int32Array(n + 1);
      for (let i = 0; i < n; i++) {
        path[level[i]] = i;
        parent[i] = level[i] > 0 ? path[level[i] - 1] : -1;
        if (level[i] > depth) depth = level[i];
      }
    }
    const b = (this.totalBase = selfBase.slice()), h = (this.totalHead = selfHead.slice());
    for (let i = n - 1; i >= 0; i--) {
      if (end[i] === 0) end[i] = i + 1;
      const p = parent[i];
      if (p < 0) continue;
      b[p] += b[i];
      h[p] += h[i];
      if (end[i] > end[p]) end[p] = end[i];
    }
    this.depth = depth + 1;
  }
  get size() { return this.level.length; }
}

export type Fn = {
  id: number; name: string; dso: string; self: Change; total: Change;
  match: string; baseName: string; baseDSO: string; reason: string; confidence: number; shift: number;
  /** What is known beside its change, and the view that has more. */
  why: { text: string; view: string }[];
};

const NONE: Fn["why"] = [];

export class EventData {
  readonly functions: Fn[] = [];
  readonly tree: Tree;
  private byName?: Map<string, Fn[]>;
  private inverted?: Tree;
  constructor(readonly meta: EventMeta, readonly index: number, readonly block: EventBlock, names: string[]) {
    const b = block;
    this.tree = decode(b.frames, names);
    const [selfBase, selfHead, totalBase, totalHead] = costsOf(this.tree, b);
    let name = -1;
    for (let i = 0; i < b.name.length; i++) {
      name += b.name[i];
      const f: Fn = {
        id: i, name: names[name], dso: names[b.dso[i]],
        self: untested(selfBase[i], selfHead[i], b.nBase[i], b.nHead[i]), total: untested(totalBase[i], totalHead[i], 0, 0),
        match: "exact", baseName: "", baseDSO: "", reason: "", confidence: 1, shift: -1, why: NONE,
      };
      this.functions.push(f);
    }
    b.matched.forEach((at, i) => {
      const f = this.functions[at];
      f.match = names[b.match[i]]; f.baseName = names[b.baseName[i]]; f.baseDSO = names[b.baseDSO[i]];
      f.reason = names[b.reason[i]]; f.confidence = b.confidence[i];
    });
    b.shifted.forEach((at, i) => { this.functions[at].shift = b.shift[i]; });
    b.why?.forEach((at, i) => (this.functions[at].why = [...this.functions[at].why, { text: names[b.whyText![i]], view: names[b.whyView![i]] }]));
    fill(b.self, (i) => this.functions[i].self);
    fill(b.total, (i) => this.functions[i].total);
  }
  label(fn: number): string {
    return fn >= 0 ? this.functions[fn].name : fn === -1 ? "total" : "(" + (-1 - fn) + " smaller frames)";
  }
  /** The tree from the leaves up: the children of a frame are its callers. */
  get callers(): Tree { return (this.inverted ??= invert(this.tree, this.functions)); }
  find(name: string, dso: string): Fn | undefined {
    if (!this.byName) {
      this.byName = new Map();
      for (const f of this.functions) {
        const same = this.byName.get(f.name);
        if (same) same.push(f);
        else this.byName.set(f.name, [f]);
      }
    }
    const same = this.byName.get(name);
    return same?.find((f) => f.dso === dso) ?? same?.[0];
  }
}

export function untested(base: number, head: number, nBase: number, nHead: number): Change {
  return {
    base, head, base_samples: nBase, head_samples: nHead, ratio: base > 0 ? head / base : null, lo: 0, hi: null, verdict: "", adjusted_p: 1, runs_needed: 0,
  };
}

const VERDICTS: Record<string, string> = { i: "improved", r: "regressed", u: "unchanged", "?": "inconclusive", m: "inconclusive", l: "inconclusive", "-": "" };

export function fill(t: TestColumns, of: (i: number) => Change) {
  let at = 0;
  const all = t.at.map((step, i) => {
    const c = of((at += step));
    c.ratio = t.ratio[i]; c.lo = t.lo[i]; c.hi = t.hi[i]; c.adjusted_p = t.p[i]; c.runs_needed = t.runs[i]; c.verdict = VERDICTS[t.verdict[i]];
    if ("ml".includes(t.verdict[i])) c.lead = t.verdict[i] === "m" ? "△" : "▽";
    return c;
  });
  t.withRuns.forEach((i, k) => { all[i].base_runs = t.baseRuns[k]; all[i].head_runs = t.headRuns[k]; });
}

/** The integers of a column. A text is of letters as in packed.go: the first ones, the second ones and so on. */
function integers(v: Packed): ArrayLike<number> {
  if (typeof v !== "string") return v;
  const places = v.split(" "), out = new Int32Array(places[0].length);
  let open: number[] | undefined, unit = 1;
  for (const letters of places) {
    const more: number[] = [];
    for (let j = 0; j < letters.length; j++) {
      const letter = letters.charCodeAt(j), k = letter - (letter > 92 ? 49 : 48), i = open ? open[j] : j; // \ is none
      out[i] += k * unit;
      if (k > 13) more.push(i);
    }
    open = more;
    unit *= 64;
  }
  for (let i = 0; i < out.length; i++) out[i] = (out[i] >>> 1) ^ -(out[i] & 1);
  return out;
}

/** The functions of frames: numbers of what their callers called so far. */
function functionsOf(f: EventBlock["frames"], level: Int32Array): Int32Array {
  const fresh = integers(f.fn);
  if (!f.known) return Int32Array.from(fresh);
  // What was called so far by functions, and by those of the path; a row of smaller frames calls nothing.
  const fn = new Int32Array(level.length), called: number[][] = [], path: number[][] = [[]];
  let next = 0;
  for (let i = 0; i < level.length; i++) {
    const letter = f.known.charCodeAt(i), k = letter - (letter > 92 ? 49 : 48); // \ is none
    const list = path[level[i]], own = k === 0 ? (fresh[next++] ?? -1) : (list[k - 1] ?? -1);
    if (k === 0) list.push(own);
    fn[i] = own;
    path[level[i] + 1] = own < -1 ? [] : (called[own + 1] ??= []);
  }
  return fn;
}

/** What functions cost, by side, alone and with what they call: the sums of their frames, unless the block says it. */
function costsOf(t: Tree, b: EventBlock): Float64Array[] {
  const n = b.name.length, q = b.frames.quantum, until = new Int32Array(n);
  const { size, fn: fns, end, selfBase, selfHead, totalBase, totalHead } = t;
  const sums = [0, 1, 2, 3].map(() => new Float64Array(n)), [sb, sh, tb, th] = sums;
  for (let i = 0; i < size; i++) {
    const fn = fns[i];
    if (fn < 0) continue;
    sb[fn] += Math.round(selfBase[i] / q);
    sh[fn] += Math.round(selfHead[i] / q);
    if (i < until[fn]) continue;
    until[fn] = end[i]; // the outermost
    tb[fn] += Math.round(totalBase[i] / q);
    th[fn] += Math.round(totalHead[i] / q);
  }
  for (const list of sums) for (let i = 0; i < n; i++) list[i] *= q;
  const near = (to: Float64Array, at: Packed = "", steps: Packed = "") => {
    const by = integers(steps), step = q / 8;
    let fn = 0;
    Array.from(integers(at), (v, i) => (to[(fn += v)] += by[i] * step));
  };
  near(sb, b.selfNear, b.selfNearBase);
  near(sh, b.selfNear, b.selfNearHead);
  near(tb, b.totalNear, b.totalNearBase);
  near(th, b.totalNear, b.totalNearHead);
  [b.selfBase, b.selfHead, b.totalBase, b.totalHead].forEach((list, k) => {
    const at = k < 2 ? b.selfAt : b.totalAt;
    let fn = 0;
    list.forEach((v, i) => { sums[k][(fn = at ? fn + at[i] : i)] = v; });
  });
  return sums;
}

function decode(f: EventBlock["frames"], names: string[]): Tree {
  const n = f.flags.length, level = new Int32Array(n), base = new Float64Array(n), head = new Float64Array(n), flags = new Uint8Array(n);
  // Costs are those of leaves, and of others where they are.
  const sparse = f.innerAt !== undefined, q = f.quantum;
  let last = -1, leaf = 0;
  for (let i = 0; i < n; i++) {
    level[i] = last = last + 1 - f.up[i];
    flags[i] = f.flags.charCodeAt(i) - 48;
    if (!sparse || i === n - 1 || f.up[i + 1] > 0) {
      base[i] = f.base[leaf] * q;
      head[i] = f.head[leaf++] * q;
    }
  }
  last = 0;
  f.innerAt?.forEach((step, k) => {
    base[(last += step)] = f.innerBase![k] * q;
    head[last] = f.innerHead![k] * q;
  });
  const tree = new Tree(level, functionsOf(f, level), base, head, flags);
  if (f.threads) {
    tree.threads = f.threads.map((id) => names[id]);
    const thread = (tree.thread = new Int32Array(n).fill(-2));
    let i = 0;
    f.threadAt!.forEach((step, k) => { thread[(i += step)] = f.thread![k]; });
    // Others have that of their caller.
    for (i = 0; i < n; i++) if (thread[i] === -2) thread[i] = i > 0 ? thread[tree.parent[i]] : -1;
  }
  return tree;
}

export const loadEvent = (meta: Meta, index: number) => once("loaded" + index, async () => {
  const [names, b] = await Promise.all([block<string[]>("names"), block<EventBlock>("event" + index)]);
  return new EventData(meta.events[index], index, b, names);
});
