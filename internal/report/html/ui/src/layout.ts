// Where frames are drawn, and what a test said of what is shown of them.

import { type EventData, GREW, ONLY_BASE, ONLY_HEAD, SHRANK, type Tree } from "./data";
import { interval, known, relative } from "./format";
import type { State } from "./state";

/** Widths in units of cost. Top-down, the total costs of frames were tested; bottom-up, the
self costs of functions; and either as they were compared, which a share of a side is not. */
export class Layout {
  readonly x: Float64Array;
  readonly tree: Tree;
  readonly byShare: boolean;
  readonly up: boolean;
  constructor(readonly data: EventData, readonly mode: State["mode"], scale: State["scale"], dir: State["dir"]) {
    this.up = dir === "up";
    this.byShare = scale === "share" && !data.meta.share;
    const tree = (this.tree = this.up ? data.callers : data.tree), n = tree.size;
    const x = (this.x = new Float64Array(n)), cursor = new Float64Array(tree.depth + 1);
    for (let i = 0; i < n; i++) {
      const level = tree.level[i];
      x[i] = cursor[level];
      cursor[level] += this.width(i);
      cursor[level + 1] = x[i];
    }
  }
  private of(side: Float64Array, i: number) { return side[i] / (this.byShare ? side[0] || 1 : 1); }
  before(i: number) { return this.of(this.tree.totalBase, i); }
  after(i: number) { return this.of(this.tree.totalHead, i); }
  delta(i: number) { return this.after(i) - this.before(i); }
  width(i: number) { return (this.mode === "after" ? 0 : this.before(i)) + (this.mode === "before" ? 0 : this.after(i)); }
  /** "regressed" or "improved" if the change of a frame was decided as it is shown. */
  decided(i: number): string {
    const f = this.tree.flags[i], d = this.delta(i);
    return this.byShare ? "" : f & GREW && d > 0 ? "regressed" : f & SHRANK && d < 0 ? "improved" : "";
  }
  /** What a test said, or why none did. */
  said(i: number): string {
    const { tree, data } = this, f = tree.flags[i], decided = this.decided(i), inner = this.up && tree.level[i] > 1;
    const c = i === 0 && !data.meta.share ? data.meta.total : this.up && tree.fn[i] >= 0 && !inner ? data.functions[tree.fn[i]].self : undefined;
    const s = this.byShare ? "shares were not tested" + (f & (GREW | SHRANK) ? `; the cost ${f & GREW ? "grew" : "shrank"} decidably` : "")
      : inner ? "not tested: a part of the self cost of a function"
      : tree.fn[i] < -1 ? "not tested"
      : (decided === "" ? "no decided change" : decided === "regressed" ? "▲ decided: grew" : "▼ decided: shrank") + (c && known(c) ? `, ${relative(c)} ${interval(c)}` : "");
    return s + (f & ONLY_HEAD ? "; only after" : f & ONLY_BASE ? "; only before" : "");
  }
}
