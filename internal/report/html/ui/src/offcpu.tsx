// The time in which threads waited.

import type { EventData } from "./data";
import { COSTS, ChangeTable, Change_, FnLink, GroupTable, Legend, Name, Strip, Verdict, Wide, cost, costCells, count, format, frameOf, h, matcher, reachOf, elide, share } from "./kit";
import type { State } from "./state";
import type { Meta } from "./types";

/** What of the program led to a wait, and what the kernel waited in. */
function stackOf(data: EventData, leaf: number): string {
  const t = data.tree, user: string[] = [], kernel: string[] = [];
  let more = false;
  for (let k = leaf; k > 0; k = t.parent[k]) {
    const f = t.fn[k] >= 0 ? data.functions[t.fn[k]] : undefined;
    const side = user.length === 0 && f && /^\[kernel|^\[guest|\.ko\b|^\[\w+\]$/.test(f.dso) ? kernel : user;
    if (side.length === (side === user ? 4 : 3)) more ||= side === user;
    else side.unshift(elide(data.label(t.fn[k]), 30));
  }
  return [...(more ? ["…"] : []), ...user, ...kernel].join(" › ");
}

export function OffCPU({ s, data, meta }: { s: State; data: EventData; meta: Meta }) {
  const e = data.meta, t = data.tree;
  const match = matcher(s.q, s.re);
  const functions = data.functions.filter((f) => f.self.base + f.self.head > 0 && match.test(f.name));
  functions.sort((a, b) => Math.abs(b.self.head - b.self.base) - Math.abs(a.self.head - a.self.base));
  const reach = reachOf(functions.map((f) => f.self));
  // The heaviest stacks in which threads waited.
  const leaves: number[] = [];
  for (let i = 1; i < t.size; i++) if (t.fn[i] >= 0 && t.selfBase[i] + t.selfHead[i] > 0) leaves.push(i);
  leaves.sort((a, b) => t.selfBase[b] + t.selfHead[b] - t.selfBase[a] - t.selfHead[a]);
  const threads = data.block.groups.find((g) => g.by === "thread");
  return (
    <div>
      <p>Time in which threads waited, {e.per === "operation" ? "per operation" : "a run"}: <b>{cost(e, e.total.base)} → {cost(e, e.total.head)}</b>, <Change_ c={e.total} />, <Verdict e={e} c={e.total} />. <a href={format({ ...s, view: "flame", event: data.index, frame: 0, report: "" })}>Flame graph of {e.name}</a></p>
      <Strip e={e} c={e.total} />
      <h2>Where they waited</h2>
      <Wide labels={"Stack, the innermost last" + COSTS}>
        {leaves.slice(0, 15).map((i) => <tr key={i}><Name><a href={format({ ...s, event: data.index, ...frameOf(i, meta.id) })}><bdi>{stackOf(data, i)}</bdi></a></Name>{costCells(e, t.selfBase[i], t.selfHead[i])}</tr>)}
      </Wide>
      <Legend>Means over runs; single stacks are not tested.</Legend>
      <h2>Functions that waited</h2>
      <ChangeTable s={s} e={e} id="waits" head="Function" rows={functions.map((f) => ({ name: f.name, shown: <FnLink s={{ ...s, event: data.index }} f={f} room={60} />, c: f.self }))} reach={reach}
        most={25} more={(left) => `${count(left.length)} more in the table of functions; ${share(left.reduce((a, r) => a + r.c.head, 0) / (e.total.head || 1))} of the time after.`} />
      {threads ? <GroupTable s={s} e={e} g={threads} /> : null}
    </div>
  );
}
