// The table of all functions.

import { h } from "preact";
import { useMemo } from "preact/hooks";
import type { EventData, Fn } from "./data";
import { cost, count, delta, interval, pValue, plural, relative, samples } from "./format";
import { elide } from "./names";
import { Bar, Change_, Delta, Dim, Verdict, isDecided, reachOf } from "./parts";
import { matcher } from "./search";
import { type State, go, openCard, sortBy, sortOf } from "./state";
import { type Column, Table, ordered } from "./table";

export function note(f: Fn): string {
  switch (f.match) {
    case "added": return "new";
    case "removed": return "gone";
    case "renamed": case "normalized": return f.baseName !== f.name ? "was " + f.baseName : "";
    case "split": case "merged": return f.match + ", was " + f.baseName;
    case "moved": return "was in " + f.baseDSO;
  }
  return "";
}

const FIRST = "-delta";

export function Functions({ s, data }: { s: State; data: EventData }) {
  const e = data.meta;
  const sort = sortOf(s, "functions", FIRST);
  const reach = useMemo(() => reachOf(data.functions.map((f) => f.self)), [data]);
  const side = (key: "base" | "head", label: string): Column<Fn> => ({ key, label, width: "5.4em", numeric: true, cell: (f) => cost(e, f.self[key]), value: (f) => f.self[key] });
  const change = (of: "self" | "total", key: string, label: string, title: string): Column<Fn> => {
    const d = (f: Fn) => f[of].head - f[of].base;
    return { key, label, title, width: "7.2em", numeric: true, small: of === "self" ? "" : undefined, cell: (f) => <Delta e={e} c={f[of]} />, value: (f) => Math.abs(d(f)), text: (f) => String(d(f)) };
  };
  const columns = useMemo<Column<Fn>[]>(() => [
    { key: "name", label: "Function", width: "minmax(20.6em,1fr)", small: "", cell: (f, room) => <span><bdi class="name" title={f.name}>{elide(f.name, room - Math.min(14, note(f).length && note(f).length + 1))}</bdi>{note(f) ? <span class="note"> <bdi>{note(f)}</bdi></span> : null}</span>, value: (f) => f.name },
    side("base", "Self before"), side("head", "Self after"), change("self", "delta", "|Δ|", "ordered by the size of the change"),
    { key: "change", label: "Change, % [95 %]", width: "12.8em", numeric: true, small: "", cell: (f) => <Change_ c={f.self} />, value: (f) => f.self.ratio ?? Infinity, text: (f) => relative(f.self) + " " + interval(f.self) },
    { key: "bar", label: "_Interval", width: "100px", cell: (f) => <Bar c={f.self} reach={reach} /> },
    { key: "verdict", label: "Verdict", width: "13em", small: " whole", cell: (f) => <Verdict e={e} c={f.self} />, value: (f) => f.self.verdict || "~", text: (f) => f.self.verdict },
    { key: "q", label: "adj. p", width: "3.6em", numeric: true, title: "p-value, adjusted for the number of tests", cell: (f) => (f.self.verdict && !e.withheld && !e.single ? <Dim>{pValue(f.self.adjusted_p)}</Dim> : null), value: (f) => (f.self.verdict ? f.self.adjusted_p : 2), text: (f) => (f.self.verdict ? String(f.self.adjusted_p) : "") },
    change("total", "total", "|Δ| total", "with what it calls"),
    { key: "samples", label: "Samples", width: "7.6em", numeric: true, cell: (f) => <Dim>{samples(f.self)}</Dim>, value: (f) => f.self.base_samples + f.self.head_samples, text: (f) => samples(f.self) },
    { key: "dso", label: "Module", width: "minmax(4em,7em)", cell: (f) => <bdi class="dim" title={f.dso}>{f.dso}</bdi>, value: (f) => f.dso },
  ], [e, reach]);
  const match = matcher(s.q, s.re);
  const rows = useMemo(() => {
    const list = data.functions.filter((f) => (!s.only || isDecided(f.self)) && match.test(f.name, f.dso, f.baseName));
    return ordered(list, columns.find((c) => c.key === sort.key), sort.ascending);
  }, [data, s.q, s.re, s.only, s.sort, columns]);
  const selected = s.fn === "" ? undefined : data.find(s.fn, s.dso);
  const all = rows.reduce((sum, f) => sum + f.self.head - f.self.base, 0);
  return (
    <div>
      <div class="controls">
        <label><input type="checkbox" checked={s.only} onChange={() => go(s, { only: !s.only })} /> only decided changes</label>
        <span class="dim" role="status">{count(rows.length)} of {plural(data.functions.length, "function")}, self {delta(e, all)} in all{match.error ? <b class="error"> {match.error}</b> : null}</span>
      </div>
      <Table label="Functions" columns={columns} rows={rows} id={(f) => f.id} sort={sort}
        onSort={(key) => sortBy(s, "functions", key, /^(name|dso|q)$/.test(key), FIRST)}
        active={selected?.id} onOpen={(f) => openCard(s, f)} />
      {e.devices ? <p class="keys">Enter or a click opens a function. Before, after and Δ are means over devices, with the same weights of models on both sides. “~20 devices”: so many a release would probably decide.</p> :
      <p class="keys">Enter or a click opens a function. Before, after and Δ are means over runs, samples sums. The change in % is the typical ratio between runs, which is what was tested; odd runs do not move it, so it may differ from that of the means. “~20 runs”: so many a side would probably decide.</p>}
    </div>
  );
}
