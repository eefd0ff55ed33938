// A table of any number of rows, of which those in view are in the document. It is one
// tab stop: keys move in it.

import { h, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { SortButton, label, sorted } from "./parts";
import type { Sort } from "./state";
import { type Cells, type Source, withoutPictures } from "./tabletext";

export type Column<R> = {
  key: string; label: string; width: string; numeric?: boolean; title?: string;
  /** Shown in small windows, too: "" beside others, " whole" on a line of its own. */
  small?: "" | " whole";
  /** room is how many letters of a name there is room for. */
  cell: (r: R, room: number) => preact.ComponentChildren;
  /** What rows are ordered by; none if the column orders nothing. */
  value?: (r: R) => number | string;
  /** As text, where that is not the value. */
  text?: (r: R) => string;
};

type Props<R> = {
  label: string; columns: Column<R>[]; rows: R[]; id: (r: R) => string | number;
  sort?: Sort; onSort?: (key: string) => void; onOpen?: (r: R) => void;
  active?: string | number;
  /** Of a tree. */
  level?: (r: R) => number; expanded?: (r: R) => boolean | undefined; onToggle?: (r: R, open: boolean) => void;
};

const NARROWEST = 40;

/** Rows are cards of two lines in small windows: see the style. */
export const SMALL = "(max-width: 44rem)";

/** Widths that columns were given, by table and column. */
const widths = new Map<string, number>();

/** Letters of names that stand in so many pixels. */
function letters(width: number): number {
  const g = (letters.context ??= document.createElement("canvas").getContext("2d")!);
  g.font = "12.4px " + getComputedStyle(document.documentElement).getPropertyValue("--mono");
  return Math.floor(width / (g.measureText("m").width || 7.5));
}
letters.context = undefined as CanvasRenderingContext2D | undefined;

/** How many rows are copied as they are seen. */
const MOST_SEEN = 30;

export function Table<R>(p: Props<R>) {
  const ref = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState(0);
  const [room, setRoom] = useState(40);
  const [, setWidths] = useState(0);
  const small = matchMedia(SMALL).matches, ROW = small ? 68 : 28, HEAD = small ? 68 : 32;
  useEffect(() => {
    const at = p.active === undefined ? -1 : p.rows.findIndex((r) => p.id(r) === p.active);
    if (at >= 0) { setActive(at); reveal(at); }
  }, [p.active, p.rows]);
  useEffect(() => {
    const el = ref.current as Source;
    const measured = () => {
      setHeight(el.clientHeight || 600);
      setRoom(letters(matchMedia(SMALL).matches ? el.clientWidth - 24 : el.querySelector(".head .cell")!.clientWidth));
    };
    measured();
    const resized = new ResizeObserver(measured);
    resized.observe(el);
    el.cells = (seen) => {
      const box = document.createElement("div");
      const shown = (c: Column<R>, r: R) => { render(h("p", null, c.cell(r, 1e9)), box); return box.textContent!.trim(); };
      const rows = seen ? p.rows.slice(0, MOST_SEEN) : p.rows, columns = seen ? p.columns : p.columns.filter((c) => c.value);
      const t: Cells = { title: "", heads: columns.map((c) => c.label), numeric: columns.map((c) => !!c.numeric), left: p.rows.length - rows.length,
        rows: rows.map((r) => columns.map((c) => (seen ? shown(c, r) : c.text ? c.text(r) : String(c.value!(r))))) };
      return seen ? withoutPictures(t) : t;
    };
    return () => resized.disconnect();
  });
  const n = p.rows.length;
  const current = Math.min(active, n - 1);
  const first = Math.max(0, Math.floor(top / ROW) - 4), last = Math.min(n, Math.ceil((top + height) / ROW) + 4);
  const style = small ? {} : { gridTemplateColumns: p.columns.map((c) => { const w = widths.get(p.label + c.key); return w ? w + "px" : c.width; }).join(" ") };
  const widen = (c: Column<R>, width: number) => {
    widths.set(p.label + c.key, Math.max(NARROWEST, Math.round(width)));
    setWidths((n) => n + 1);
  };
  const cellOf = (el: EventTarget | null) => (el as Element).closest<HTMLElement>(".cell")!;
  // The edge of a column follows the pointer.
  const drag = (c: Column<R>) => (e: PointerEvent) => {
    const edge = e.currentTarget as HTMLElement, from = cellOf(edge).offsetWidth - e.clientX;
    edge.setPointerCapture(e.pointerId);
    edge.onpointermove = (m) => widen(c, from + m.clientX);
    edge.onpointerup = () => { edge.onpointermove = edge.onpointerup = null; };
    e.preventDefault();
  };
  const headKey = (c: Column<R>) => (e: KeyboardEvent) => {
    const step = e.key === "ArrowRight" ? 24 : e.key === "ArrowLeft" ? -24 : 0;
    if (!e.shiftKey || step === 0) return;
    widen(c, cellOf(e.currentTarget).offsetWidth + step);
    e.preventDefault();
  };
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
          <div key={c.key} role={k === 0 && !tree ? "rowheader" : "gridcell"} class={"cell" + (c.numeric ? " n" : "") + (c.small ?? " large")} style={k === 0 && tree ? { paddingLeft: Math.min(p.level!(r), 24) * 14 + "px" } : undefined}>
            {k === 0 && tree ? (
              <button type="button" class="twist" tabIndex={-1} aria-hidden="true" onClick={() => open !== undefined && p.onToggle!(r, !open)}>{open === undefined ? " " : open ? "▾" : "▸"}</button>
            ) : null}
            {c.cell(r, k === 0 && tree ? room - 2 * Math.min(p.level!(r), 24) - 3 : room)}
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
          <div key={c.key} role="columnheader" class={"cell" + (c.numeric ? " n" : "") + (c.small ?? " large")} title={c.title} aria-sort={sorted(p.sort, c.key)}>
            {c.value && p.onSort ? <SortButton sort={p.sort} by={c.key} on={p.onSort} onKey={headKey(c)}>{c.label}</SortButton> : label(c.label)}
            <span class="edge" onPointerDown={drag(c)} />
          </div>
        ))}
      </div>
      <div class="body" role="rowgroup" style={{ height: n * ROW + "px" }}>{visible}</div>
    </div>
  );
}

/** Orders rows by a column; equal ones stay in their order. */
export function ordered<R>(rows: R[], column: Pick<Column<R>, "value"> | undefined, ascending: boolean): R[] {
  if (!column?.value) return rows;
  const value = column.value;
  const keyed = rows.map((r, i) => ({ r, i, v: value(r) }));
  const sign = ascending ? 1 : -1;
  keyed.sort((a, b) => (a.v < b.v ? -sign : a.v > b.v ? sign : a.i - b.i));
  return keyed.map((k) => k.r);
}
