// Small parts that several views have.

import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Fn } from "./data";
import { MARKS, cost, count, delta, interval, known, relative, shares, word } from "./format";
import { elide } from "./names";
import { type Sort, type State, cardOf, format, sortBy, sortOf } from "./state";
import type { Change, EventMeta } from "./types";

type Children = { children?: preact.ComponentChildren };
export const Dim = ({ children }: Children) => <span class="dim">{children}</span>;
export const Legend = ({ children }: Children) => <p class="legend">{children}</p>;
/** Says why there is nothing. */
export const None = ({ children }: Children) => <p class="none">{children}</p>;
export const Button = ({ on, children }: { on: () => void } & Children) => <button type="button" class="button" onClick={on}>{children}</button>;

export const isDecided = (c: Change) => c.verdict === "regressed" || c.verdict === "improved";

/** Text in the color of a verdict, and with its sign, which says the same. */
export function Marked({ v, children }: { v: string } & Children) {
  const mark = MARKS[v]?.[0];
  return <span class={v || "dim"}>{mark ? <span class="mark" aria-hidden="true">{mark} </span> : null}{children}</span>;
}

export function Verdict({ e, c }: { e: EventMeta; c: Change }) {
  if (c.lead) return <b class="lead" title="further from noise than chance would have it; one run a side decides nothing">{c.lead} lead</b>;
  if (e.withheld && c.verdict === "inconclusive") return <Dim>withheld</Dim>;
  const n = c.verdict === "inconclusive" ? c.runs_needed : 0;
  return <Marked v={c.verdict}>{word(e, c.verdict)}{n > 0 ? (e.devices ? ", ~" + count(n) + " devices" : n >= 1000 ? ", 1000+ runs" : ", ~" + n + " runs") : null}</Marked>;
}

/** A difference, marked if it was decided. */
export function Delta({ e, c }: { e: EventMeta; c: Change }) {
  const text = delta(e, c.head - c.base);
  return isDecided(c) ? <Marked v={c.verdict}><b>{text}</b></Marked> : <span>{text}</span>;
}

/** The interval of a ratio as a picture; reach is the logarithm at its ends. */
export function Bar({ c, reach }: { c: Change; reach: number }) {
  if (!known(c) || c.ratio === null || !(c.ratio > 0)) return null;
  const x = (ratio: number | null) => (ratio === null ? 96 : 50 + 46 * Math.max(-1, Math.min(1, Math.log(ratio) / reach)));
  const cls = isDecided(c) ? c.verdict : "dim";
  return (
    <svg width="100" height="12" viewBox="0 0 100 12" aria-hidden="true">
      <path d="M50 0V12" stroke="#888" stroke-dasharray="1.5 2" fill="none" />
      <path class={cls} d={`M${x(c.lo).toFixed(1)} 6H${x(c.hi).toFixed(1)}`} stroke="currentColor" stroke-width="2" fill="none" />
      <circle class={cls} cx={x(c.ratio).toFixed(1)} cy="6" r="3" fill="currentColor" />
    </svg>
  );
}

export function Change_({ c }: { c: Change }) {
  return <span class="iv"><b>{relative(c)}</b> <span class="ci">{interval(c)}</span></span>;
}

/** Every run as a dot: base above, open, and head below, filled; the bars are means. */
export function Strip({ e, c, width = 420 }: { e: EventMeta; c: Change; width?: number }) {
  const base = c.base_runs ?? [], head = c.head_runs ?? [];
  if (base.length + head.length < 2) return null;
  const all = [...base, ...head];
  const max = Math.max(...all), min = Math.min(...all);
  const pad = (max - min) * 0.06 || max * 0.05 || 1;
  const lo = Math.max(0, min - pad), hi = max + pad;
  const x = (v: number) => 58 + ((v - lo) / (hi - lo)) * (width - 74);
  const row = (values: number[], mean: number, y: number, cls: string, name: string) => (
    <g>
      <text x="0" y={y + 4}>{name}</text>
      <path class="axis" d={`M58 ${y}H${width - 10}`} />
      <path class="mean" d={`M${x(mean).toFixed(1)} ${y - 8}V${y + 8}`} />
      {values.map((v, i) => <circle key={i} class={cls} cx={x(v).toFixed(1)} cy={y} r="4" fill-opacity="0.75"><title>{"run " + (i + 1) + ": " + cost(e, v)}</title></circle>)}
    </g>
  );
  return (
    <svg width={width} height="68" viewBox={`0 0 ${width} 68`} role="img" aria-label={`Cost of each run: before ${base.map((v) => cost(e, v)).join(", ")}; after ${head.map((v) => cost(e, v)).join(", ")}`}>
      {row(base, c.base, 12, "base", "before")}
      {row(head, c.head, 38, "head", "after")}
      <text x="58" y="65">{cost(e, lo)}</text>
      <text x={width - 10} y="65" text-anchor="end">{cost(e, hi)}</text>
    </svg>
  );
}

export function Copy({ text, label = "Copy" }: { text: () => string; label?: string }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setDone("Copied");
    } catch {
      // Pages from files may not have the clipboard.
      const area = document.createElement("textarea");
      area.value = text();
      (document.querySelector("dialog") ?? document.body).append(area);
      area.select();
      setDone(document.execCommand("copy") ? "Copied" : "Copying is not allowed here");
      area.remove();
    }
    setTimeout(() => setDone(""), 2000);
  };
  return <Button on={copy}>{label}<span role="status">{done ? " · " + done : ""}</span></Button>;
}

/** Lets the browser keep a file. */
export function save(name: string, type: string, data: string | Blob) {
  const url = URL.createObjectURL(new Blob([data], { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** What aria-sort says of a column. */
export const sorted = (sort: Sort | undefined, key: string) => (sort?.key !== key ? undefined : sort.ascending ? "ascending" : "descending");

/** The head of a column that sorts. */
export const SortButton = ({ sort, by, on, onKey, children }: { sort?: Sort; by: string; on: (key: string) => void; onKey?: (e: KeyboardEvent) => void } & Children) => (
  <button type="button" class="by" onClick={() => on(by)} onKeyDown={onKey}>{children}{sort?.key === by ? (sort.ascending ? " ↑" : " ↓") : ""}</button>
);

/** A label; one with _ in front is not seen. */
export const label = (l: string) => (l[0] === "_" ? <span class="vh">{l.slice(1)}</span> : l);

/** The head of a table: labels between bars, of numbers with > in front. */
export const heads = (labels: string) => (
  <thead><tr>{labels.split("|").map((l) => <th key={l} scope="col" class={l[0] === ">" ? "n" : undefined}>{label(l.replace(/^>/, ""))}</th>)}</tr></thead>
);

export function Facts({ list }: { list: [string, preact.ComponentChildren][] }) {
  return <dl class="fact">{list.filter((f) => f[1] !== "" && f[1] !== null).map((f, i) => [<dt key={"t" + i}>{f[0]}</dt>, <dd key={"d" + i}>{f[1]}</dd>])}</dl>;
}

/** What can be scrolled can be so by keys. In small windows rows are cards: each cell says which it is. */
export const reached = (el: HTMLElement | null) => {
  if (!el) return;
  el.tabIndex = el.scrollWidth > el.clientWidth ? 0 : -1;
  for (const t of el.querySelectorAll<HTMLTableElement>(":scope > table")) {
    const heads = t.tHead ? [...t.tHead.rows[0].cells].map((c) => c.textContent!) : [];
    for (const r of t.tBodies[0]?.rows ?? []) if (r.cells.length === heads.length) heads.forEach((l, i) => { r.cells[i].dataset.label = l; });
  }
};

/** A table that may be wider than the page; what follows is below it. */
export function Wide({ labels, children, more }: { labels: string | preact.VNode; more?: preact.ComponentChildren } & Children) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => reached(ref.current));
  return <div class="wide" ref={ref}><table>{typeof labels === "string" ? heads(labels) : labels}<tbody>{children}</tbody></table>{more}</div>;
}

export const num = (v: preact.ComponentChildren, cls = "") => <td class={"n " + cls}>{v}</td>;

/** The name of a row. */
export const Name = ({ children }: Children) => <th scope="row" class="name">{children}</th>;

export const FnLink = ({ s, f, room }: { s: State; f: Fn; room: number }) => <a href={format({ ...s, ...cardOf(f) })} title={f.name}><bdi>{elide(f.name, room)}</bdi></a>;

/** The heads of costCells. */
export const COSTS = "|>Before|>After|>Δ|>%";

/** Costs that were not tested, as cells of a table. */
export const costCells = (e: EventMeta, base: number, head: number) => [
  num(cost(e, base, 3)), num(cost(e, head, 3)), num(delta(e, head - base, 3)), num(relative({ base, head, ratio: null }), "dim"),
];

/** The heads of changeCells. */
export const CHANGE = COSTS.replace("%", "Change, % [95 %]|_Interval|Verdict");

/** A change as cells of a table. */
export const changeCells = (e: EventMeta, c: Change, reach: number, whole?: { base: number; head: number }) => [
  num(cost(e, c.base)), num(cost(e, c.head)),
  whole ? num(shares(c, whole), "dim") : null,
  num(<Delta e={e} c={c} />), num(<Change_ c={c} />), <td class="bar"><Bar c={c} reach={reach} /></td>, <td><Verdict e={e} c={c} /></td>,
];

export const reachOf = (list: Change[]) => {
  let reach = Math.log(1.1);
  for (const c of list) if (c.verdict !== "" && known(c)) for (const v of [c.lo, c.hi, c.ratio]) if (v !== null && v > 0) reach = Math.max(reach, Math.abs(Math.log(v)));
  return Math.min(reach, Math.log(4));
};

/** A row of a ChangeTable: what it is called, as text and as it is shown. */
export type ChangeRow = { name: string; shown: preact.ComponentChildren; c: Change };

/** Changes that can be sorted by each column; id is what the table is called in the address. */
export function ChangeTable({ s, e, id, head, rows, reach, whole, most = rows.length, more }: {
  s: State; e: EventMeta; id: string; head: string; rows: ChangeRow[]; reach: number; whole?: { base: number; head: number }; most?: number; more?: (left: ChangeRow[]) => string;
}) {
  const sort = sortOf(s, id);
  const columns: [string, string, (r: ChangeRow) => number | string][] = [
    ["name", head, (r) => r.name], ["base", ">Before", (r) => r.c.base], ["head", ">After", (r) => r.c.head], ["share", ">Share", (r) => Math.max(r.c.base / (whole?.base || 1), r.c.head / (whole?.head || 1))],
    ["delta", ">Δ", (r) => Math.abs(r.c.head - r.c.base)], ["change", ">Change, % [95 %]", (r) => r.c.ratio ?? Infinity], ["", "_Interval", () => 0], ["verdict", "Verdict", (r) => r.c.verdict || "~"],
  ];
  const by = columns.find(([key]) => key !== "" && key === sort.key)?.[2];
  const list = by ? rows.slice().sort((a, b) => { const x = by(a), y = by(b); return (x < y ? -1 : x > y ? 1 : 0) * (sort.ascending ? 1 : -1); }) : rows;
  const left = list.slice(most);
  return (
    <Wide more={left.length > 0 && more ? <Legend>{more(left)}</Legend> : null} labels={<thead><tr>{columns.filter(([key]) => key !== "share" || whole).map(([key, l]) => (
      <th key={key} scope="col" class={l[0] === ">" ? "n" : undefined} aria-sort={key ? sorted(sort, key) : undefined}>
        {key ? <SortButton sort={sort} by={key} on={() => sortBy(s, id, key, /name|verdict/.test(key))}>{l.replace(/^>/, "")}</SortButton> : label(l)}
      </th>
    ))}</tr></thead>}>
      {list.slice(0, most).map((r) => <tr key={r.name}><Name>{r.shown}</Name>{changeCells(e, r.c, reach, whole)}</tr>)}
    </Wide>
  );
}
