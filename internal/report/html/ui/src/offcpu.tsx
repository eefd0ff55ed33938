// The time in which threads waited.

import type { EventData } from "./data";
import { Bar, Change_, Delta, GroupTable, Strip, Verdict, cost, count, delta, format, h, heads, matcher, reachOf, relative, share, shorter } from "./kit";
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
    else side.unshift(shorter(data.label(t.fn[k]), 30));
  }
  return [...(more ? ["…"] : []), ...user, ...kernel].join(" › ");
}

export function OffCPU({ s, data, meta }: { s: State; data: EventData; meta: Meta }) {
  const e = data.meta, t = data.tree;
  const match = matcher(s.q);
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
      <p>Time in which threads waited, {e.per === "operation" ? "per operation" : "a run"}: <b>{cost(e, e.total.base)} → {cost(e, e.total.head)}</b>, <Change_ c={e.total} />, <Verdict c={e.total} />. <a href={format({ ...s, view: "flame", event: data.index, frame: 0, report: "" })}>Flame graph of {e.name}</a></p>
      <Strip e={e} c={e.total} />
      <h2>Where they waited</h2>
      <div class="wide"><table>{heads("Stack, the innermost last|>Before|>After|>Δ|>%")}<tbody>
        {leaves.slice(0, 15).map((i) => {
          const path = stackOf(data, i);
          return <tr key={i}><th scope="row" class="name"><a href={format({ ...s, view: "flame", event: data.index, frame: i, report: meta.id, dir: "down", tree: false })}><bdi>{path}</bdi></a></th><td class="n">{cost(e, t.selfBase[i], 3)}</td><td class="n">{cost(e, t.selfHead[i], 3)}</td><td class="n">{delta(e, t.selfHead[i] - t.selfBase[i], 3)}</td><td class="n dim">{relative({ base: t.selfBase[i], head: t.selfHead[i], ratio: null })}</td></tr>;
        })}
      </tbody></table></div>
      <h2>Functions that waited</h2>
      <div class="wide"><table>{heads("Function|>Before|>After|>Δ|>Change, % [95 %]|_Interval|Verdict")}<tbody>
        {functions.slice(0, 25).map((f) => <tr key={f.id}><th scope="row" class="name"><a href={format({ ...s, view: "function", event: data.index, fn: f.name, dso: f.dso })}><bdi>{shorter(f.name, 60)}</bdi></a></th><td class="n">{cost(e, f.self.base)}</td><td class="n">{cost(e, f.self.head)}</td><td class="n"><Delta e={e} c={f.self} /></td><td class="n"><Change_ c={f.self} /></td><td class="bar"><Bar c={f.self} reach={reach} /></td><td><Verdict c={f.self} /></td></tr>)}
      </tbody></table>{functions.length > 25 ? <p class="legend">{count(functions.length - 25)} more in the table of functions; {share(functions.slice(25).reduce((a, f) => a + f.self.head, 0) / (e.total.head || 1))} of the time after.</p> : null}</div>
      {threads ? <GroupTable s={s} e={e} g={threads} /> : null}
    </div>
  );
}
