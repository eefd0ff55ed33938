// Threads, categories, modules and processes.

import { h } from "preact";
import type { EventData } from "./data";
import { plural } from "./format";
import { Bar, Verdict, changeCells, heads, reachOf } from "./parts";
import { matcher } from "./search";
import type { State } from "./state";
import type { EventMeta, Group } from "./types";

const TITLES: Record<string, string> = { thread: "Threads", category: "Categories", dso: "Modules", process: "Processes", file: "Source files" };
const MOST = 150;

export function GroupTable({ s, e, g }: { s: State; e: EventMeta; g: Group }) {
  const match = matcher(s.q);
  const rows = g.rows.filter((r) => match.test(r.name));
  const reach = reachOf(g.rows.map((r) => r.change));
  return (
    <section>
      <h2>{TITLES[g.by] ?? g.by}</h2>
      {rows.length === 0 ? <p class="none">None{match.all ? "" : " that match"}.</p> : (
        <div class="wide"><table>{heads("Name|>Before|>After|>Share|>Δ|>Change, % [95 %]|_Interval|Verdict")}<tbody>
          {rows.slice(0, MOST).map((r) => <tr key={r.name}><th scope="row"><bdi>{r.name}</bdi></th>{changeCells(e, r.change, e.share ? { ...e.total, base: 1, head: 1 } : e.total)}<td class="bar"><Bar c={r.change} reach={reach} /></td><td><Verdict c={r.change} /></td></tr>)}
        </tbody></table></div>
      )}
      {rows.length > MOST ? <p class="legend">{plural(rows.length - MOST, "more row")}: search to find them.</p> : null}
    </section>
  );
}

export function Groups({ s, data }: { s: State; data: EventData }) {
  const order = ["category", "thread", "process", "dso", "file"];
  const groups = data.block.groups.slice().sort((a, b) => order.indexOf(a.by) - order.indexOf(b.by));
  return (
    <div>
      <p class="dim">Self cost of {data.meta.name}. Categories are tested as declared (Holm), others as found. Threads of a pool are one row.</p>
      {groups.map((g) => <GroupTable key={g.by} s={s} e={data.meta} g={g} />)}
    </div>
  );
}
