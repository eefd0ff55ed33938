// The table of all functions.

import { h } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { EventData, Fn } from "./data";
import { cost, count, delta, interval, pValue, plural, relative } from "./format";
import { Bar, Change_, Copy, Delta, Verdict, reachOf } from "./parts";
import { matcher } from "./search";
import { type State, go } from "./state";
import { type Column, Table, ordered, tsv } from "./table";

export function note(f: Fn): string {
  switch (f.match) {
    case "added": return "new";
    case "removed": return "gone";
    case "renamed": case "normalized": return f.baseName !== f.name ? "was " + f.baseName : "";
    case "moved": return "was in " + f.baseDSO;
  }
  return "";
}

export function Functions({ s, data }: { s: State; data: EventData }) {
  const e = data.meta;
  const [sort, setSort] = useState("delta");
  const [ascending, setAscending] = useState(false);
  const reach = useMemo(() => reachOf(data.functions.map((f) => f.self)), [data]);
  const columns = useMemo<Column<Fn>[]>(() => [
    { key: "name", label: "Function", width: "minmax(14em,1fr)", cell: (f) => <span title={f.name}><bdi class="name">{f.name}</bdi>{note(f) ? <span class="note"> <bdi>{note(f)}</bdi></span> : null}</span>, value: (f) => f.name, text: (f) => f.name },
    { key: "dso", label: "Module", width: "minmax(4em,8em)", cell: (f) => <bdi class="dim">{f.dso}</bdi>, value: (f) => f.dso, text: (f) => f.dso },
    { key: "base", label: "Self before", width: "5.4em", numeric: true, cell: (f) => cost(e, f.self.base), value: (f) => f.self.base, text: (f) => String(f.self.base) },
    { key: "head", label: "after", width: "5.4em", numeric: true, cell: (f) => cost(e, f.self.head), value: (f) => f.self.head, text: (f) => String(f.self.head) },
    { key: "delta", label: "|Δ|", width: "7.2em", numeric: true, title: "ordered by the size of the change", cell: (f) => <Delta e={e} c={f.self} />, value: (f) => Math.abs(f.self.head - f.self.base), text: (f) => String(f.self.head - f.self.base) },
    { key: "change", label: "Change, % [95 %]", width: "13.5em", numeric: true, cell: (f) => <Change_ c={f.self} />, value: (f) => f.self.ratio ?? Infinity, text: (f) => relative(f.self) + " " + interval(f.self) },
    { key: "bar", label: "", width: "100px", cell: (f) => <Bar c={f.self} reach={reach} /> },
    { key: "verdict", label: "Verdict", width: "13em", cell: (f) => <Verdict c={f.self} />, value: (f) => f.self.verdict || "~", text: (f) => f.self.verdict },
    { key: "q", label: "adj. p", width: "3.6em", numeric: true, title: "p-value, adjusted for the number of tests", cell: (f) => (f.self.verdict ? <span class="dim">{pValue(f.self.adjusted_p)}</span> : null), value: (f) => (f.self.verdict ? f.self.adjusted_p : 2), text: (f) => (f.self.verdict ? String(f.self.adjusted_p) : "") },
    { key: "total", label: "Δ total", width: "7.2em", numeric: true, title: "with what it calls", cell: (f) => <Delta e={e} c={f.total} />, value: (f) => Math.abs(f.total.head - f.total.base), text: (f) => String(f.total.head - f.total.base) },
    { key: "samples", label: "Samples", width: "8.6em", numeric: true, cell: (f) => <span class="dim">{count(f.self.base_samples)} → {count(f.self.head_samples)}</span>, value: (f) => f.self.base_samples + f.self.head_samples, text: (f) => f.self.base_samples + " → " + f.self.head_samples },
  ], [e, reach]);
  const match = matcher(s.q);
  const rows = useMemo(() => {
    const list = data.functions.filter((f) => (!s.only || f.self.verdict === "regressed" || f.self.verdict === "improved") && (match.test(f.name) || match.test(f.dso) || (f.baseName !== "" && match.test(f.baseName))));
    return ordered(list, columns.find((c) => c.key === sort), ascending);
  }, [data, s.q, s.only, sort, ascending, columns]);
  const selected = s.fn === "" ? undefined : data.find(s.fn, s.dso);
  const change = rows.reduce((sum, f) => sum + f.self.head - f.self.base, 0);
  return (
    <div>
      <div class="controls">
        <label><input type="checkbox" checked={s.only} onChange={() => go(s, { only: !s.only })} /> only decided changes</label>
        <span class="dim" role="status">{count(rows.length)} of {plural(data.functions.length, "function")}, self {delta(e, change)} in all{match.error ? <b class="error"> {match.error}</b> : null}</span>
        <Copy label="Copy as TSV" text={() => tsv(columns, rows)} />
      </div>
      <Table label="Functions" columns={columns} rows={rows} id={(f) => f.id} sort={sort} ascending={ascending} height="36rem"
        onSort={(key) => { if (key === sort) setAscending(!ascending); else { setSort(key); setAscending(key === "name" || key === "dso" || key === "q"); } }}
        active={selected?.id} onOpen={(f) => go(s, { view: "function", fn: f.name, dso: f.dso })} />
      <p class="keys">Enter or a click opens a function. Samples are sums over the runs of a side.</p>
    </div>
  );
}
