// Threads, categories, modules and processes.

import { h } from "preact";
import type { EventData } from "./data";
import { plural, wholeOf } from "./format";
import { ChangeTable, None, reachOf } from "./parts";
import { matcher } from "./search";
import type { State } from "./state";
import type { EventMeta, Group } from "./types";

const TITLES: Record<string, string> = { thread: "Threads", category: "Categories", dso: "Modules", process: "Processes", file: "Source files" };
const MOST = 150;

export function GroupTable({ s, e, g }: { s: State; e: EventMeta; g: Group }) {
  const match = matcher(s.q, s.re);
  const rows = g.rows.filter((r) => match.test(r.name));
  return (
    <section>
      <h2>{TITLES[g.by] ?? g.by}</h2>
      {rows.length === 0 ? <None>None{match.all ? "" : " that match"}.</None> : (
        <ChangeTable s={s} e={e} id={g.by} head="Name" rows={rows.map((r) => ({ name: r.name, shown: <bdi>{r.name}</bdi>, c: r.change }))} reach={reachOf(g.rows.map((r) => r.change))} whole={wholeOf(e)}
          most={MOST} more={(left) => plural(left.length, "more row") + ": search to find them."} />
      )}
    </section>
  );
}

export function Groups({ s, data }: { s: State; data: EventData }) {
  const order = ["category", "thread", "process", "dso", "file"];
  const groups = data.block.groups.slice().sort((a, b) => order.indexOf(a.by) - order.indexOf(b.by));
  return (
    <div>
      <p class="dim">Self cost of {data.meta.name}. Categories are tested so that no false alarm is likely among them (Holm), the others as functions are (Benjamini–Hochberg). Threads of a pool are one row.</p>
      {groups.map((g) => <GroupTable key={g.by} s={s} e={data.meta} g={g} />)}
    </div>
  );
}
