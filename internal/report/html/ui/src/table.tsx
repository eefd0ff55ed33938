// A table of any number of rows, of which those in view are in the document. It is one
// tab stop: keys move in it.

import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { label } from "./parts";

export type Column<R> = {
  key: string; label: string; width: string; numeric?: boolean; title?: string;
  cell: (r: R) => preact.ComponentChildren;
  /** What rows are ordered by; none if the column orders nothing. */
  value?: (r: R) => number | string;
  /** As text, where that is not the value. */
  text?: (r: R) => string;
};

type Props<R> = {
  label: string; columns: Column<R>[]; rows: R[]; id: (r: R) => string | number;
  sort?: string; ascending?: boolean; onSort?: (key: string) => void; onOpen?: (r: R) => void;
  active?: string | number;
  /** Of a tree. */
  level?: (r: R) => number; expanded?: (r: R) => boolean | undefined; onToggle?: (r: R, open: boolean) => void;
};

const ROW = 28, HEAD = 32;

export function Table<R>(p: Props<R>) {
  const ref = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState(0);
  useEffect(() => {
    const at = p.active === undefined ? -1 : p.rows.findIndex((r) => p.id(r) === p.active);
    if (at >= 0) { setActive(at); reveal(at); }
  }, [p.active, p.rows]);
  useEffect(() => { if (ref.current) setHeight(ref.current.clientHeight || 600); });
  const n = p.rows.length;
  const current = Math.min(active, n - 1);
  const first = Math.max(0, Math.floor(top / ROW) - 4), last = Math.min(n, Math.ceil((top + height) / ROW) + 4);
  const template = p.columns.map((c) => c.width).join(" ");
  const style = { gridTemplateColumns: template };
  const tree = p.level !== undefined;
  function reveal(i: number) {
    const el = ref.current;
    if (!el) return;
    const y = i * ROW, room = el.clientHeight - HEAD - 2;
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + ROW > el.scrollTop + room) el.scrollTop = y + ROW - room;
  }
  function move(i: number) {
    i = Math.max(0, Math.min(n - 1, i));
    setActive(i);
    reveal(i);
  }
  function key(e: KeyboardEvent) {
    if (e.target !== ref.current || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor((height - HEAD) / ROW) - 1);
    const r = p.rows[current];
    switch (e.key) {
      case "ArrowDown": move(current + 1); break;
      case "ArrowUp": move(current - 1); break;
      case "PageDown": move(current + page); break;
      case "PageUp": move(current - page); break;
      case "Home": move(0); break;
      case "End": move(n - 1); break;
      case "Enter": if (n > 0) p.onOpen?.(r); break;
      case "ArrowRight": case "ArrowLeft": {
        if (!tree || n === 0) return;
        const open = p.expanded!(r), right = e.key === "ArrowRight";
        if (open === !right) p.onToggle!(r, right);
        else if (right) { if (open) move(current + 1); }
        else {
          let i = current - 1;
          while (i > 0 && p.level!(p.rows[i]) >= p.level!(r)) i--;
          move(i);
        }
        break;
      }
      default: return;
    }
    e.preventDefault();
  }
  const visible = [];
  for (let i = first; i < last; i++) {
    const r = p.rows[i];
    const open = tree ? p.expanded!(r) : undefined;
    visible.push(
      <div key={p.id(r)} id={"row" + i} role="row" class={"row" + (i === current ? " active" : "")} aria-rowindex={i + 2} aria-selected={i === current}
        aria-level={tree ? p.level!(r) + 1 : undefined} aria-expanded={open}
        style={{ ...style, transform: `translateY(${i * ROW}px)` }}
        onClick={(e: MouseEvent) => { setActive(i); if (!(e.target as Element).closest("button")) p.onOpen?.(r); }}>
        {p.columns.map((c, k) => (
          <div key={c.key} role={k === 0 && !tree ? "rowheader" : "gridcell"} class={"cell" + (c.numeric ? " n" : "")} style={k === 0 && tree ? { paddingLeft: Math.min(p.level!(r), 24) * 14 + "px" } : undefined}>
            {k === 0 && tree ? (
              <button type="button" class="twist" tabIndex={-1} aria-hidden="true" onClick={() => open !== undefined && p.onToggle!(r, !open)}>{open === undefined ? " " : open ? "▾" : "▸"}</button>
            ) : null}
            {c.cell(r)}
          </div>
        ))}
      </div>,
    );
  }
  return (
    <div ref={ref} class="grid" role={tree ? "treegrid" : "grid"} tabIndex={0} aria-label={p.label} aria-rowcount={n + 1}
      aria-activedescendant={n > 0 && current >= first && current < last ? "row" + current : undefined}
      style={{ height: Math.min(n, 20) * ROW + HEAD + 20 + "px" }}
      onKeyDown={key} onScroll={(e: Event) => setTop((e.currentTarget as HTMLElement).scrollTop)}>
      <div class="row head" role="row" aria-rowindex={1} style={style}>
        {p.columns.map((c) => (
          <div key={c.key} role="columnheader" class={"cell" + (c.numeric ? " n" : "")} title={c.title}
            aria-sort={c.key === p.sort ? (p.ascending ? "ascending" : "descending") : undefined}>
            {c.value && p.onSort ? <button type="button" onClick={() => p.onSort!(c.key)}>{c.label}{c.key === p.sort ? (p.ascending ? " ↑" : " ↓") : ""}</button> : label(c.label)}
          </div>
        ))}
      </div>
      <div class="body" role="rowgroup" style={{ height: n * ROW + "px" }}>{visible}</div>
    </div>
  );
}

/** Orders rows by a column; equal ones stay in their order. */
export function ordered<R>(rows: R[], column: Column<R> | undefined, ascending: boolean): R[] {
  if (!column?.value) return rows;
  const value = column.value;
  const keyed = rows.map((r, i) => ({ r, i, v: value(r) }));
  const sign = ascending ? 1 : -1;
  keyed.sort((a, b) => (a.v < b.v ? -sign : a.v > b.v ? sign : a.i - b.i));
  return keyed.map((k) => k.r);
}

/** Rows as text for a spreadsheet: one that starts like a formula gets a quote in front. */
export function tsv<R>(columns: Column<R>[], rows: R[]): string {
  const clean = (s: string) => (/^[=+\-@]/.test(s) && !/^[+\-−]?[\d.,]+/.test(s) ? "'" + s : s).replace(/[\t\r\n]/g, " ");
  const used = columns.filter((c) => c.value);
  return [used.map((c) => c.label), ...rows.map((r) => used.map((c) => clean(c.text ? c.text(r) : String(c.value!(r)))))].map((l) => l.join("\t")).join("\n") + "\n";
}
