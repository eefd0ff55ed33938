// When costs were spent: threads and functions by time, on both sides, aligned at the start. A span of
// time that is chosen there is what the flame graph shows.

import type { EventData } from "./data";
import { Button, Dim, Flame, Fragment, Legend, Name, None, Wide, cost, count, delta, go, h, num, plural, share, elide, useBlock, useEffect, useMemo, useRef, useState } from "./kit";
import { type Part, narrowed } from "./narrowed";
import type { State } from "./state";
import type { Meta, TimesBlock } from "./types";

const SIDES = ["Before", "After"], ROW = 18, ALL = 38, AXIS = 17, SLICES = 20, FUNCTIONS = 8;

/** What is chosen: bins from the first to behind the last, of each side; a row of threads or -1; a run from 1, or 0 for means. */
type Span = { from: number[]; to: number[]; apart: boolean; thread: number; run: number };

/** A row of a map: costs by bin. */
type Row = Float64Array;

class Times {
  /** By side, or 2 and the index of a run, and thread. */
  readonly rows: Row[][] = [];
  readonly width: number;
  constructor(readonly block: TimesBlock) {
    const b = block, n = b.threads.length;
    this.width = b.bins * b.bin;
    let at = 0;
    b.cells.forEach((cells, i) => {
      const row = new Float64Array(b.bins);
      for (let bin = 0, k = 0; k < cells; k++, at++) {
        bin += b.step[at];
        if (bin < b.bins) row[bin] += b.value[at] * b.quantum;
      }
      if (i % n === 0) this.rows.push([]);
      this.rows[this.rows.length - 1].push(row);
    });
  }
  get runs() { return Math.max(this.block.base, this.block.length.length - this.block.base); }
  /** The rows of a side: means, or a run. None if the side has fewer runs. */
  of(side: number, run: number): Row[] {
    if (run === 0) return this.rows[side];
    const b = this.block, at = run - 1 + (side ? b.base : 0);
    return at < (side ? b.length.length : b.base) ? this.rows[2 + at] ?? [] : [];
  }
  /** When the longest run of a side ended. */
  end(side: number): number {
    const b = this.block;
    return Math.max(0, ...b.length.slice(side ? b.base : 0, side ? undefined : b.base));
  }
  /** The name of a row on a side, or on both. */
  name(thread: number, side?: number): string {
    const b = this.block;
    if (thread < 0) return "all threads";
    if (thread === b.threads.length - 1 && b.others > 0) return plural(b.others, "other thread");
    const before = b.threads[thread], after = b.after?.[thread] ?? before;
    return side === 0 || before === after ? before : side === 1 ? after : before + " → " + after;
  }
  time(bins: number): string { return seconds(bins * this.block.bin, this.block.bin); }
  /** The rows of stacks of both sides: frames, and what they cost in which bins. */
  stacks(visit: (side: number, thread: number, frame: number, from: number, cells: number) => void) {
    const s = this.block.stacks;
    let at = 0;
    s.cells.forEach((cells, i) => {
      visit(i < s.head ? 0 : 1, s.thread[i], s.frame[i], at, cells);
      at += cells;
    });
  }
}

/** A time with as many digits as bins need. */
function seconds(ns: number, bin: number): string {
  const places = Math.min(9, Math.max(0, Math.ceil(-Math.log10(bin / 1e9) - 1e-9)));
  return (ns / 1e9).toFixed(places);
}

/** The sum of rows by bin. */
function sum(rows: Row[], bins: number): Row {
  const all = new Float64Array(bins);
  for (const row of rows) for (let i = 0; i < bins; i++) all[i] += row[i];
  return all;
}

const within = (row: Row, from: number, to: number) => { let v = 0; for (let i = from; i < to; i++) v += row[i]; return v; };

/** Reads what format writes: times of both sides, or of each behind b and a, the run behind r, the thread behind t. */
function parse(t: Times, text: string): Span {
  const { bins, bin, threads } = t.block, s: Span = { from: [0, 0], to: [bins, bins], apart: false, thread: -1, run: 0 };
  for (let rest = text; rest !== ""; ) {
    const m = /^([ba]?)(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)(?:,|$)|^r(\d+)(?:,|$)|^t(.*)$/s.exec(rest);
    if (!m) break;
    rest = rest.slice(m[0].length);
    if (m[5] !== undefined) s.thread = m[5] === "" && t.block.others > 0 ? threads.length - 1 : threads.indexOf(m[5]);
    else if (m[4] !== undefined) s.run = t.block.single ? Math.min(Number(m[4]), t.runs) : 0;
    else for (const side of m[1] === "" ? [0, 1] : [m[1] === "a" ? 1 : 0]) {
      s.apart ||= m[1] !== "";
      const from = Math.min(bins - 1, Math.round((Number(m[2]) * 1e9) / bin)), to = Math.min(bins, Math.round((Number(m[3]) * 1e9) / bin));
      if (to > from) { s.from[side] = from; s.to[side] = to; }
    }
  }
  return s;
}

function write(t: Times, s: Span): string {
  const parts: string[] = [], whole = (side: number) => s.from[side] === 0 && s.to[side] === t.block.bins;
  const one = (side: number) => t.time(s.from[side]) + "-" + t.time(s.to[side]);
  if (s.apart) parts.push("b" + one(0), "a" + one(1));
  else if (!whole(0)) parts.push(one(0));
  if (s.run > 0) parts.push("r" + s.run);
  if (s.thread >= 0) parts.push("t" + t.block.threads[s.thread]);
  return parts.join(",");
}

const chosen = (t: Times, s: Span) => s.thread >= 0 || s.from.some((v, i) => v > 0 || s.to[i] < t.block.bins);

/** What is chosen, in words. */
function says(t: Times, s: Span): string {
  const one = (i: number) => (s.from[i] === 0 && s.to[i] === t.block.bins ? "all of the time" : t.time(s.from[i]) + " to " + t.time(s.to[i]) + " s");
  return (s.apart ? one(0) + " before and " + one(1) + " after" : one(0)) + (s.thread < 0 ? "" : " of " + t.name(s.thread));
}

/** What frames cost in what is chosen, undefined if that is everything or not known. */
function partOf(t: Times, s: Span, data: EventData): Part | undefined {
  const b = t.block.stacks;
  if (b.kept === 0 || !chosen(t, s)) return;
  const sides = [new Float64Array(data.tree.size), new Float64Array(data.tree.size)];
  t.stacks((side, thread, frame, at, cells) => {
    if (s.thread >= 0 && thread !== s.thread) return;
    let bin = 0, v = 0;
    for (let end = at + cells; at < end; at++) {
      bin += b.step[at];
      if (bin >= s.to[side]) break;
      if (bin >= s.from[side]) v += b.value[at];
    }
    sides[side][frame] += v * b.quantum;
  });
  return { base: sides[0], head: sides[1], says: says(t, s) };
}

/** A function by time, on both sides. */
type Ran = { fn: number; sides: Row[]; sum: number; apart: number; level: number };

/** The functions whose share of the cost changes most over time: what a program does in turns. Of those that
run together the innermost is listed, as it says most. */
function turns(t: Times, thread: number, data: EventData): Ran[] {
  const b = t.block.stacks, tree = data.tree, bins = t.block.bins, found = new Map<number, Ran>(), all = [0, 1].map(() => new Float64Array(bins));
  const whole = Math.max(tree.totalBase[0], tree.totalHead[0]);
  const heavy = new Set(data.functions.filter((f) => Math.max(f.total.base, f.total.head) > 0.02 * (data.meta.share ? 1 : whole)).map((f) => f.id));
  t.stacks((side, of, frame, at, cells) => {
    if (thread >= 0 && of !== thread) return;
    const on: Ran[] = [];
    for (let i = frame; i > 0; i = tree.parent[i]) {
      const fn = tree.fn[i];
      if (!heavy.has(fn)) continue;
      let r = found.get(fn);
      if (!r) found.set(fn, (r = { fn, sides: [new Float64Array(bins), new Float64Array(bins)], sum: 0, apart: 0, level: tree.level[i] }));
      if (!on.includes(r)) on.push(r);
      r.level = Math.max(r.level, tree.level[i]);
    }
    for (let bin = 0, end = at + cells; at < end; at++) {
      bin += b.step[at];
      if (bin >= bins) break;
      const v = b.value[at] * b.quantum;
      all[side][bin] += v;
      for (const r of on) { r.sides[side][bin] += v; r.sum += v; }
    }
  });
  const total = within(all[0], 0, bins) + within(all[1], 0, bins) || 1;
  for (const r of found.values()) for (const side of [0, 1]) for (let i = 0; i < bins; i++) r.apart += Math.abs(r.sides[side][i] - (r.sum / total) * all[side][i]);
  // What always runs is no turn.
  const always = (r: Ran) => {
    let active = 0, on = 0;
    for (const side of [0, 1]) for (let i = 0; i < bins; i++) if (all[side][i] > 0) { active++; if (r.sides[side][i] > 0.2 * all[side][i]) on++; }
    return on > 0.95 * active;
  };
  const most = [...found.values()].filter((r) => !always(r));
  const list = (most.length > 0 ? most : [...found.values()]).sort((x, y) => y.apart - x.apart || x.fn - y.fn), picked: { first: number; r: Ran }[] = [];
  for (const r of list) {
    const common = (o: Ran) => [0, 1].reduce((v, side) => { for (let i = 0; i < bins; i++) v += Math.min(r.sides[side][i], o.sides[side][i]); return v; }, 0) / Math.max(r.sum, o.sum);
    const same = picked.find((p) => common(p.r) > 0.8);
    if (!same) { if (picked.length < FUNCTIONS) picked.push({ first: r.sum, r }); } else if (r.sum > 0.85 * same.first && r.level > same.r.level) same.r = r;
  }
  // In the order of time.
  const center = (r: Ran) => { let v = 0; for (const row of r.sides) for (let i = 0; i < bins; i++) v += i * row[i]; return v / (r.sum || 1); };
  return picked.map((p) => p.r).sort((x, y) => center(x) - center(y));
}

type Paint = { bg: string; soft: string; text: string; dim: string; line: string; focus: string; heat: (v: number) => string };

function paint(): Paint {
  const css = getComputedStyle(document.documentElement), of = (name: string) => css.getPropertyValue("--" + name).trim();
  if (matchMedia("(forced-colors: active)").matches) {
    return { bg: "Canvas", soft: "Canvas", text: "CanvasText", dim: "CanvasText", line: "CanvasText", focus: "Highlight", heat: (v) => `color-mix(in srgb, CanvasText ${Math.round(100 * v)}%, Canvas)` };
  }
  const rgb = (hex: string) => [1, 3, 5].map((i) => parseInt((hex.length === 4 ? hex.replace(/[^#]/g, "$&$&") : hex).slice(i, i + 2), 16));
  const bg = rgb(of("bg")), dark = bg[0] < 128;
  // From the background over one hue to its end: more is farther from the background, for every eye.
  const stops = [bg, ...(dark ? ["#3d2a66", "#7d57c2", "#c9aef5", "#fff3c4"] : ["#d9c8ef", "#a37bd0", "#6a35a6", "#2b0a52"]).map(rgb)];
  const heat = (v: number) => {
    const at = Math.min(0.9999, Math.max(0, v)) * (stops.length - 1), i = Math.floor(at);
    return "rgb(" + stops[i].map((c, k) => Math.round(c + (at - i) * (stops[i + 1][k] - c))) + ")";
  };
  return { bg: of("bg"), soft: of("soft"), text: of("text"), dim: of("dim"), line: of("line"), focus: of("focus"), heat };
}

/** The value that is drawn as the end of the scale: few cells are above it. */
function top(rows: Row[]): number {
  const list: number[] = [];
  for (const row of rows) for (const v of row) if (v > 0) list.push(v);
  list.sort((a, b) => a - b);
  return list[Math.min(list.length - 1, Math.floor(0.99 * list.length))] ?? 1;
}

type MapProps = {
  t: Times; side: number; rows: Row[]; names: string[]; scale: number; area?: Row; most: number; span: Span; says: string;
  choose: (s: Span) => void; at: number;
};

/** The map of a side. */
function Heat({ t, side, rows, names, scale, area, most, span, says, choose, at }: MapProps) {
  const canvas = useRef<HTMLCanvasElement>(null), [drag, setDrag] = useState<[number, number] | null>(null);
  const { bins } = t.block, above = area ? ALL : 0, height = above + rows.length * ROW + AXIS;
  const [from, to] = drag ? [Math.min(...drag), Math.max(...drag) + 1] : [span.from[side], span.to[side]];
  function draw() {
    const c = canvas.current;
    if (!c) return;
    const ratio = devicePixelRatio || 1, W = c.clientWidth, p = paint(), g = c.getContext("2d")!, x = (bin: number) => Math.round((bin / bins) * W * ratio) / ratio;
    c.width = Math.round(W * ratio);
    c.height = Math.round(height * ratio);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = p.bg;
    g.fillRect(0, 0, W, height);
    if (area) {
      g.fillStyle = p.dim;
      for (let i = 0; i < bins; i++) {
        const y = (area[i] / (most || 1)) * (ALL - 4);
        if (y > 0) g.fillRect(x(i), ALL - 2 - y, x(i + 1) - x(i), y);
      }
      g.fillStyle = p.line;
      g.fillRect(0, ALL - 2, W, 1);
    }
    rows.forEach((row, k) => {
      g.globalAlpha = at >= 0 && k !== at ? 0.3 : 1;
      for (let i = 0; i < bins; i++) {
        if (row[i] <= 0) continue;
        g.fillStyle = p.heat(0.08 + 0.92 * Math.sqrt(Math.min(1, row[i] / (scale || 1))));
        g.fillRect(x(i), above + k * ROW + 1, x(i + 1) - x(i), ROW - 2);
      }
    });
    g.globalAlpha = 1;
    const bottom = above + rows.length * ROW, end = (t.end(side) / t.width) * W;
    // Behind the end of the last run there is nothing to see.
    g.fillStyle = p.line;
    g.fillRect(end, 0, 1, bottom);
    g.globalAlpha = 0.6;
    g.fillStyle = p.soft;
    g.fillRect(end + 1, 0, W, bottom);
    g.globalAlpha = 1;
    if (at >= 0 && rows[at]) {
      g.strokeStyle = p.focus;
      g.lineWidth = 1.5;
      g.strokeRect(1, above + at * ROW + 0.5, W - 2, ROW - 1);
    }
    if (from > 0 || to < bins) {
      g.globalAlpha = 0.72;
      g.fillStyle = p.bg;
      g.fillRect(0, 0, x(from), bottom);
      g.fillRect(x(to), 0, W, bottom);
      g.globalAlpha = 1;
      g.strokeStyle = p.focus;
      g.lineWidth = 2;
      g.strokeRect(x(from) + 1, 1, Math.max(1, x(to) - x(from) - 2), bottom - 2);
    }
    g.fillStyle = p.dim;
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "bottom";
    for (const s of ticks(t.width / 1e9, Math.max(2, Math.floor(W / 90)))) {
      const px = ((s * 1e9) / t.width) * W, label = digitsOf(s) + " s";
      g.fillRect(Math.round(px), bottom, 1, 4);
      const w = g.measureText(label).width;
      g.fillText(label, Math.min(W - w, Math.max(0, px - w / 2)), height);
    }
  }
  useEffect(draw);
  useEffect(() => {
    const resized = new ResizeObserver(draw);
    if (canvas.current) resized.observe(canvas.current);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    addEventListener("resize", draw);
    return () => { resized.disconnect(); dark.removeEventListener("change", draw); removeEventListener("resize", draw); };
  });
  const binAt = (ev: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return Math.max(0, Math.min(bins - 1, Math.floor(((ev.clientX - box.left) / box.width) * bins)));
  };
  const set = (a: number, b: number) => {
    const next = { ...span, from: span.from.slice(), to: span.to.slice() };
    for (const i of span.apart ? [side] : [0, 1]) { next.from[i] = a; next.to[i] = b; }
    choose(next);
  };
  function key(ev: KeyboardEvent) {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const all = span.from[side] === 0 && span.to[side] === bins, a = span.from[side], b = span.to[side], n = b - a;
    const step = ev.key === "ArrowRight" || ev.key === "PageDown" ? 1 : ev.key === "ArrowLeft" || ev.key === "PageUp" ? -1 : 0, by = ev.key.startsWith("Page") ? n : 1;
    if (step !== 0 && all) set(step > 0 ? 0 : bins - Math.ceil(bins / 20), step > 0 ? Math.ceil(bins / 20) : bins);
    else if (step !== 0 && ev.shiftKey) set(a, Math.max(a + 1, Math.min(bins, b + step * by)));
    else if (step !== 0) { const to = Math.max(0, Math.min(bins - n, a + step * by)); set(to, to + n); }
    else if (ev.key === "Home" && !all) set(ev.shiftKey ? 0 : 0, ev.shiftKey ? b : n);
    else if (ev.key === "End" && !all) set(ev.shiftKey ? a : bins - n, bins);
    else if (ev.key === "ArrowDown") choose({ ...span, thread: Math.min(t.block.threads.length - 1, span.thread + 1) });
    else if (ev.key === "ArrowUp") choose({ ...span, thread: Math.max(-1, span.thread - 1) });
    else if (ev.key === "Escape") { if (chosen(t, span)) set(0, bins); choose({ ...span, from: [0, 0], to: [bins, bins], thread: -1 }); }
    else return;
    ev.preventDefault();
  }
  const rowAt = (y: number) => Math.floor((y - above) / ROW);
  return (
    <div class="heat-map">
      <div class="heat-names" aria-hidden="true" style={{ paddingTop: above + "px" }}>{area ? <span class="heat-all">All</span> : null}{names.map((n, k) => (
        <span key={k} title={n} style={{ height: ROW + "px", lineHeight: ROW + "px" }}><bdi>{elide(n, 21)}</bdi></span>
      ))}</div>
      <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription="heat map" aria-label={`${SIDES[side]}: ${says}; the check box “as a table” shows the same as a table`} aria-describedby="time-selected time-keys"
        style={{ height: height + "px" }} onKeyDown={key}
        onPointerDown={(ev: PointerEvent) => { if (ev.button !== 0) return; canvas.current!.setPointerCapture(ev.pointerId); const b = binAt(ev); setDrag([b, b]); }}
        onPointerMove={(ev: PointerEvent) => { if (drag) setDrag([drag[0], binAt(ev)]); }}
        onPointerCancel={() => setDrag(null)}
        onPointerUp={(ev: PointerEvent) => {
          if (!drag) return;
          setDrag(null);
          const b = binAt(ev);
          if (b !== drag[0]) return set(Math.min(drag[0], b), Math.max(drag[0], b) + 1);
          // A click chooses a row, or all of them and all of the time.
          const k = area ? rowAt(ev.clientY - canvas.current!.getBoundingClientRect().top) : -1;
          if (k >= 0 && k < rows.length) choose({ ...span, thread: k === span.thread ? -1 : k });
          else choose({ ...span, from: [0, 0], to: [bins, bins], thread: -1 });
        }} />
    </div>
  );
}

function ticks(width: number, most: number): number[] {
  let step = 10 ** Math.floor(Math.log10(width / most));
  for (const f of [2, 2.5, 2]) if (width / step > most) step *= f;
  const list: number[] = [];
  for (let i = 0; i * step <= width; i++) list.push(i * step);
  return list;
}

const digitsOf = (s: number) => String(Number(s.toPrecision(6)));

/** The view over time, or in that of the flame graph the span of the address. */
export function TimesView({ s, data, meta }: { s: State; data: EventData; meta: Meta }) {
  const name = "times" + data.index, flame = s.view === "flame";
  return meta.blocks.includes(name) ? <Loaded key={name} s={s} data={data} meta={meta} name={name} flame={flame} />
    : flame ? <Flame key={name} s={s} data={data} meta={meta} /> : <None>When {data.meta.name} was sampled is not known.</None>;
}

function Loaded({ s, data, meta, name, flame }: { s: State; data: EventData; meta: Meta; name: string; flame: boolean }) {
  const block = useBlock<TimesBlock>(meta, name), t = useMemo(() => (block ? new Times(block) : undefined), [block]);
  const span = useMemo(() => (t ? parse(t, s.span) : undefined), [t, s.span]), part = useMemo(() => (t && span ? partOf(t, span, data) : undefined), [t, span, data]);
  const shown = useMemo(() => (part ? narrowed(data, part) : data), [data, part]);
  if (!t || !span) return <None>Reading…</None>;
  const graph = <Flame key={name} s={s} data={shown} meta={meta} part={part?.says} />;
  return flame ? graph : <Map_ s={s} data={data} t={t} span={span} part={part} graph={graph} />;
}

function Map_({ s, data, t, span, part, graph }: { s: State; data: EventData; t: Times; span: Span; part?: Part; graph: preact.ComponentChildren }) {
  const b = t.block, e = data.meta, { bins } = b;
  const ran = useMemo(() => (b.stacks.kept > 0 ? turns(t, span.thread, data) : []), [t, span.thread, data]);
  const choose = (next: Span) => go(s, { span: write(t, next) }, true);
  const sides = [0, 1].map((side) => t.of(side, span.run));
  const all = sides.map((rows) => sum(span.thread < 0 ? rows : rows.slice(span.thread, span.thread + 1), bins));
  const shown = sides.map((rows) => sum(rows, bins));
  const scale = useMemo(() => top(sides.flat()), [t, span.run]), most = Math.max(...shown[0], ...shown[1]);
  const ranScale = useMemo(() => top(ran.flatMap((r) => r.sides)), [ran]);
  // Of a part, as the flame graph has it.
  const sums = [0, 1].map((side) => (part && span.run === 0 ? (side ? part.head : part.base).reduce((v, x) => v + x, 0) : within(all[side], span.from[side], span.to[side])));
  const untimed = Math.max(...b.untimed.map((v) => Math.abs(v ?? 0)));
  const per = e.per === "operation" ? "per operation" : span.run > 0 ? "of run " + span.run : b.length.length > 2 ? "mean of " + [b.base, b.length.length - b.base].map((n, i) => count(n) + (i ? " after" : " before")).join(", ") : "a run";
  const restart = chosen(t, span);
  return (
    <div>
      <div class="controls">
        <label>Thread: <select value={String(span.thread)} onChange={(ev: Event) => choose({ ...span, thread: Number((ev.target as HTMLSelectElement).value) })}>
          <option value="-1">all</option>{b.threads.map((_, i) => <option key={i} value={String(i)}>{elide(t.name(i), 40)}</option>)}
        </select></label>
        {b.single ? <label>Runs: <select value={String(span.run)} onChange={(ev: Event) => choose({ ...span, run: Number((ev.target as HTMLSelectElement).value) })}>
          <option value="0">means</option>{Array.from({ length: t.runs }, (_, i) => <option key={i} value={String(i + 1)}>run {i + 1}</option>)}
        </select></label> : null}
        <label><input type="checkbox" checked={span.apart} onChange={() => choose({ ...span, apart: !span.apart, ...(span.apart ? { from: [span.from[0], span.from[0]], to: [span.to[0], span.to[0]] } : {}) })} /> a span of its own for each side</label>
        <label><input type="checkbox" checked={s.tree} onChange={() => go(s, { tree: !s.tree })} /> as a table</label>
        {restart ? <Button on={() => go(s, { span: "" })}>All of the time</Button> : null}
      </div>
      <div class="selected" id="time-selected" role="status">
        <b>{says(t, span)}</b>: before {cost(e, sums[0], 3)}, after {cost(e, sums[1], 3)}, {delta(e, sums[1] - sums[0], 3)} <Dim>· {per}; not tested</Dim>
        {span.run > 0 && restart ? <Dim><br />The flame graph below has the means over runs.</Dim> : null}
      </div>
      {s.tree ? <Twin t={t} e={e} sides={all} ran={ran} data={data} /> : (
        <Fragment>
          {[0, 1].map((side) => (
            <section key={side}>
              <h2>{SIDES[side]}</h2>
              {sides[side].length === 0 ? <None>This side has no run {span.run}.</None> :
                <Heat t={t} side={side} rows={sides[side]} names={b.threads.map((_, i) => t.name(i, side))} scale={scale} area={shown[side]} most={most} span={span} choose={choose} at={span.thread}
                  says={`cost of ${e.name} by thread and time`} />}
            </section>
          ))}
          <p class="legend heat-legend">Each cell is {t.time(1)} s: <Ramp /> 0 to {cost(e, scale, 2)} {per}; the row “All” reaches up to {cost(e, most, 2)}. Both sides have one scale and begin together.
            {t.end(0) !== t.end(1) ? " Behind the line no run of the side goes on." : ""}</p>
          <p class="keys" id="time-keys">Drag to choose a span, click a row to choose a thread. <kbd>←</kbd> <kbd>→</kbd> move the span, with <kbd>Shift</kbd> its end · <kbd>↑</kbd> <kbd>↓</kbd> thread · <kbd>Esc</kbd> all</p>
          {ran.length > 0 ? (
            <section>
              <h2>What ran when{span.thread < 0 ? "" : ": " + t.name(span.thread)}</h2>
              {[0, 1].map((side) => (
                <div key={side}>
                  <h3>{SIDES[side]}</h3>
                  <Heat t={t} side={side} rows={ran.map((r) => r.sides[side])} names={ran.map((r) => data.functions[r.fn].name)} scale={ranScale} most={1} span={span} choose={choose} at={-1} says={`the functions whose share of ${e.name} changes most over time`} />
                </div>
              ))}
              <Legend>Functions, with what they call, whose share of the cost changes most over time, in the order of time; means over runs. <Ramp /> 0 to {cost(e, ranScale, 2)}.</Legend>
            </section>
          ) : null}
        </Fragment>
      )}
      {untimed > 0 ? <p class="note">Up to {cost(e, untimed, 3)} of a run has no time, and is not here.</p> : null}
      {b.stacks.kept > 0 ? (
        <section>
          <h2>Flame graph of {restart ? says(t, span) : "all of the time"}</h2>
          {part && b.stacks.kept < e.frames ? <p class="note">{count(b.stacks.kept)} frames are told apart by time: what the others cost is in the frames that call them.</p> : null}
          {graph}
        </section>
      ) : <None>A span cannot be shown as a flame graph: this page has no room for stacks by time.</None>}
    </div>
  );
}

function Ramp() {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const g = canvas.current!.getContext("2d")!, p = paint();
    for (let i = 0; i < 80; i++) { g.fillStyle = p.heat(0.08 + 0.92 * Math.sqrt(i / 79)); g.fillRect(i, 0, 1, 12); }
  });
  return <canvas ref={canvas} width="80" height="12" class="ramp" aria-hidden="true" />;
}

/** The maps as a table, in slices of time. */
function Twin({ t, e, sides, ran, data }: { t: Times; e: EventData["meta"]; sides: Row[]; ran: Ran[]; data: EventData }) {
  const { bins } = t.block, each = Math.ceil(bins / SLICES), list: number[] = [];
  for (let i = 0; i < bins; i += each) list.push(i);
  const most = (side: number, from: number, to: number, whole: number) => {
    let best: Ran | undefined, v = 0;
    for (const r of ran) { const own = within(r.sides[side], from, to); if (own > v) { v = own; best = r; } }
    return best && whole > 0 ? <span><bdi>{elide(data.functions[best.fn].name, 32)}</bdi> <Dim>{share(Math.min(1, v / whole))}</Dim></span> : "";
  };
  return (
    <Wide labels="Seconds|>Before|>After|>Δ|What ran before|What ran after">
      {list.map((from) => {
        const to = Math.min(bins, from + each), v = sides.map((row) => within(row, from, to));
        return <tr key={from}><Name>{t.time(from)} to {t.time(to)}</Name>{num(cost(e, v[0], 3))}{num(cost(e, v[1], 3))}{num(delta(e, v[1] - v[0], 3))}<td>{most(0, from, to, v[0])}</td><td>{most(1, from, to, v[1])}</td></tr>;
      })}
    </Wide>
  );
}
