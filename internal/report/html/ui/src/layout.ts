// Where frames are drawn, and what a test said of what is shown of them.

import { type EventData, GREW, ONLY_BASE, ONLY_HEAD, SHRANK, type Tree } from "./data";
import { MARKS, interval, known, relative, word } from "./format";
import type { State } from "./state";

/** Which tree is drawn: that of calls, that from the leaves up, or one half of what is around a function. */
export type Kind = "down" | "up" | "callers" | "callees";

/** Widths in units of cost. Top-down, the total costs of frames were tested; bottom-up, the
self costs of functions; around a function, its total cost; and all as they were compared, which a share of a side is not. */
export class Layout {
  readonly x: Float64Array;
  readonly byShare: boolean;
  readonly up: boolean;
  private readonly whole: { base: number; head: number };
  constructor(readonly data: EventData, readonly mode: State["mode"], scale: State["scale"], readonly kind: Kind, readonly tree: Tree = kind === "up" ? data.callers : data.tree) {
    this.up = kind === "up";
    this.byShare = scale === "share" && !data.meta.share;
    this.whole = { base: data.tree.totalBase[0] || 1, head: data.tree.totalHead[0] || 1 };
    const n = tree.size, x = (this.x = new Float64Array(n)), cursor = new Float64Array(tree.depth + 1);
    for (let i = 0; i < n; i++) {
      const level = tree.level[i];
      x[i] = cursor[level];
      cursor[level] += this.width(i);
      cursor[level + 1] = x[i];
    }
  }
  before(i: number) { return this.tree.totalBase[i] / (this.byShare ? this.whole.base : 1); }
  after(i: number) { return this.tree.totalHead[i] / (this.byShare ? this.whole.head : 1); }
  delta(i: number) { return this.after(i) - this.before(i); }
  width(i: number) { return (this.mode === "after" ? 0 : this.before(i)) + (this.mode === "before" ? 0 : this.after(i)); }
  /** The parts of a side that a frame has, of all or of another frame. */
  parts(i: number, of = -1): [number, number] {
    const { totalBase: b, totalHead: a } = this.tree;
    return of < 0 ? [b[i] / this.whole.base, a[i] / this.whole.head] : [b[i] / b[of], a[i] / a[of]];
  }
  /** "regressed" or "improved" if the change of a frame was decided as it is shown. */
  decided(i: number): string {
    const f = this.tree.flags[i];
    if (!(f & (GREW | SHRANK)) || this.byShare) return ""; // as of most frames
    const d = this.delta(i);
    return f & GREW && d > 0 ? "regressed" : f & SHRANK && d < 0 ? "improved" : "";
  }
  /** △ or ▽ if the function of a frame is a lead by its self cost, and the frame has some of it. */
  lead(i: number): string {
    const { tree, kind } = this, own = kind === "up" ? tree.level[i] === 1 : kind === "down" && tree.selfBase[i] + tree.selfHead[i] > 0;
    return (own && this.data.functions[tree.fn[i]]?.self.lead) || "";
  }
  /** What was tested of a frame, if that is not the frame itself; undefined if nothing was. */
  private tested(i: number) {
    const { tree, data, kind } = this, f = data.functions[tree.fn[i]], level = tree.level[i];
    if (kind === "callers" || kind === "callees") return level === 0 ? f?.total : undefined;
    return i === 0 ? (data.meta.share ? undefined : data.meta.total) : kind === "up" && level === 1 ? f?.self : undefined;
  }
  /** What a test said, or why none did. */
  said(i: number): string {
    const { tree, kind, data } = this, f = tree.flags[i], decided = this.decided(i), c = this.tested(i);
    const inner = kind !== "down" && tree.level[i] > (kind === "up" ? 1 : 0);
    const s = this.byShare ? "shares were not tested" + (f & (GREW | SHRANK) ? `; the cost is decidedly ${word(data.meta, f & GREW ? "regressed" : "improved")}` : "")
      : inner ? (kind === "up" ? "not tested: a part of the self cost of a function" : "not tested: a part of the cost of a function")
      : tree.fn[i] < -1 ? "not tested"
      : (decided === "" ? "no decided change" : `${MARKS[decided][0]} decided: ${word(data.meta, decided)}`) + (c && known(c) ? `, ${relative(c)} ${interval(c)}` : "");
    return s + (f & ONLY_HEAD ? "; only after" : f & ONLY_BASE ? "; only before" : "");
  }
}
