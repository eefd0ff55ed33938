// A part of an event, such as a span of time, as an event of its own.

import type { EventData, Fn } from "./data";
import { Tree, untested } from "./kit";

/** Self costs of a part by frame of the tree, on both sides, and what it is called. */
export type Part = { base: Float64Array; head: Float64Array; says: string };

/** The same frames and functions with the costs of a part, in which nothing was tested. */
export function narrowed(whole: EventData, part: Part): EventData {
  const t = whole.tree, n = whole.functions.length, at = new Int32Array(n).fill(-1);
  const tree = new Tree(t.level, t.fn, part.base, part.head, new Uint8Array(t.size), t);
  Object.assign(tree, { threads: t.threads, thread: t.thread });
  const sums = [0, 1, 2, 3].map(() => new Float64Array(n)), [selfBase, selfHead, totalBase, totalHead] = sums;
  // Of a recursive function the outermost call counts.
  for (let i = 1; i < t.size; i++) {
    const f = t.fn[i];
    if (f < 0) continue;
    selfBase[f] += part.base[i];
    selfHead[f] += part.head[i];
    if (i < at[f]) continue;
    at[f] = t.end[i];
    totalBase[f] += tree.totalBase[i];
    totalHead[f] += tree.totalHead[i];
  }
  const functions = whole.functions.map((f, i): Fn => ({ ...f, self: untested(selfBase[i], selfHead[i], 0, 0), total: untested(totalBase[i], totalHead[i], 0, 0) }));
  const meta = { ...whole.meta, total: untested(tree.totalBase[0], tree.totalHead[0], 0, 0) };
  return Object.assign(Object.create(whole) as EventData, { meta, tree, functions, inverted: undefined });
}
