// The flame graph: an icicle, root on top, drawn on a canvas of the size of the view.

import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type EventData, GREW, ONLY_BASE, ONLY_HEAD, SHRANK, type Tree } from "./data";
import { cost, count, delta, plural, relative, share, points, shorter } from "./format";
import { Copy } from "./parts";
import { matcher } from "./search";
import { type State, go } from "./state";
import { TreeTable } from "./treetable";

const ROW = 19, FONT = "11.5px ui-monospace, \"SF Mono\", Menlo, Consolas, \"Liberation Mono\", \"DejaVu Sans Mono\", monospace";

/** What is drawn: where each frame starts and how wide it is, in units of cost. */
export class Layout {
  readonly x: Float64Array;
  constructor(readonly tree: Tree, readonly mode: State["mode"], readonly byShare: boolean) {
    const n = tree.size, x = (this.x = new Float64Array(n)), cursor = new Float64Array(tree.depth + 1);
    for (let i = 0; i < n; i++) {
      const level = tree.level[i];
      x[i] = cursor[level];
      cursor[level] += this.width(i);
      cursor[level + 1] = x[i];
    }
  }
  before(i: number) { return this.byShare ? this.tree.totalBase[i] / (this.tree.totalBase[0] || 1) : this.tree.totalBase[i]; }
  after(i: number) { return this.byShare ? this.tree.totalHead[i] / (this.tree.totalHead[0] || 1) : this.tree.totalHead[i]; }
  width(i: number) {
    return this.mode === "before" ? this.before(i) : this.mode === "after" ? this.after(i) : this.before(i) + this.after(i);
  }
  /** +1 or -1 if the change of a frame was decided and is shown as it was tested. */
  sign(i: number): number {
    if (this.mode !== "diff") return 0;
    const f = this.tree.flags[i], d = this.after(i) - this.before(i);
    return f & GREW && d > 0 ? 1 : f & SHRANK && d < 0 ? -1 : 0;
  }
}

type Rect = { i: number; x: number; w: number };

type Colors = Record<"bg" | "frame" | "alt" | "text" | "line" | "grew" | "shrank" | "shrankLine" | "match" | "focus", string> & { boxes?: boolean };

function colors(): Colors {
  const css = getComputedStyle(document.documentElement);
  const v = (name: string) => css.getPropertyValue(name).trim();
  if (matchMedia("(forced-colors: active)").matches) {
    return { bg: "Canvas", frame: "ButtonFace", alt: "ButtonFace", text: "ButtonText", line: "CanvasText", grew: "Mark", shrank: "Canvas", shrankLine: "CanvasText", match: "Mark", focus: "Highlight", boxes: true };
  }
  return {
    bg: v("--bg"), frame: v("--frame"), alt: v("--frame-alt"), text: v("--frame-text"), line: v("--frame-line"), grew: v("--grew-fill"),
    shrank: v("--shrank-fill"), shrankLine: v("--shrank-line"), match: v("--match"), focus: v("--focus"),
  };
}

export function Flame({ s, data, report }: { s: State; data: EventData; report: string }) {
  const e = data.meta;
  const tree = s.dir === "up" ? data.callers : data.tree;
  const layout = useMemo(() => new Layout(tree, s.mode, s.scale === "share"), [tree, s.mode, s.scale]);
  const zoom = s.frame < tree.size && (s.report === "" || s.report === report) ? s.frame : 0;
  const [selected, setSelected] = useState(zoom);
  const [tip, setTip] = useState<{ i: number; x: number; y: number } | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null), view = useRef<HTMLDivElement>(null);
  const rows = useRef<Rect[][]>([]);
  const match = matcher(s.q);
  // Frames that match, and the cost of what is in or below any of them, counted once.
  const found = useMemo(() => {
    if (match.all) return null;
    const hit = new Uint8Array(tree.size), known = new Map<number, boolean>();
    let frames = 0, before = 0, after = 0, until = 0;
    for (let i = 1; i < tree.size; i++) {
      const fn = tree.fn[i];
      if (fn < 0) continue;
      let ok = known.get(fn);
      if (ok === undefined) known.set(fn, (ok = match.test(data.functions[fn].name)));
      if (!ok) continue;
      hit[i] = 1;
      frames++;
      if (i >= until) {
        before += s.dir === "up" ? 0 : tree.totalBase[i];
        after += s.dir === "up" ? 0 : tree.totalHead[i];
        until = tree.end[i];
      }
    }
    return { hit, frames, before, after };
  }, [tree, s.q, data]);
  // What was decided in view, in preorder.
  const decided = useMemo(() => {
    const list: number[] = [];
    for (let i = zoom; i < tree.end[zoom]; i++) if (i > 0 && layout.sign(i) !== 0) list.push(i);
    return list;
  }, [layout, zoom]);
  const largest = useMemo(() => {
    const d = (i: number) => Math.abs(layout.after(i) - layout.before(i));
    return decided.slice().sort((a, b) => d(b) - d(a) || a - b).slice(0, 14);
  }, [decided]);
  const depth = useMemo(() => {
    let max = 0;
    for (let i = zoom; i < tree.end[zoom]; i++) if (tree.level[i] > max) max = tree.level[i];
    return max + 1;
  }, [tree, zoom]);

  function draw() {
    const c = canvas.current, v = view.current;
    if (!c || !v) return;
    const ratio = window.devicePixelRatio || 1, W = v.clientWidth, H = v.clientHeight, top = v.scrollTop;
    if (c.width !== Math.round(W * ratio) || c.height !== Math.round(H * ratio)) {
      c.width = Math.round(W * ratio);
      c.height = Math.round(H * ratio);
      c.style.width = W + "px";
      c.style.height = H + "px";
    }
    const g = c.getContext("2d")!, k = colors();
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = k.bg;
    g.fillRect(0, 0, W, H);
    g.font = FONT;
    g.textBaseline = "middle";
    const char = g.measureText("mmmmmmmmmm").width / 10 || 7;
    const firstRow = Math.floor(top / ROW), lastRow = Math.ceil((top + H) / ROW);
    const drawn: Rect[][] = (rows.current = []);
    const x0 = layout.x[zoom], scale = W / (layout.width(zoom) || 1);
    const one = (i: number, x: number, w: number) => {
      const level = tree.level[i];
      (drawn[level] ??= []).push({ i, x, w });
      if (level < firstRow || level > lastRow) return;
      const y = level * ROW - top, width = Math.max(w - (w > 3 ? 1 : 0), 0.6), height = ROW - 1;
      g.fillStyle = found?.hit[i] ? k.match : level % 2 ? k.frame : k.alt;
      g.globalAlpha = found && !found.hit[i] ? 0.55 : 1;
      g.fillRect(x, y, width, height);
      g.globalAlpha = 1;
      const sign = layout.sign(i);
      if (sign !== 0) {
        const b = layout.before(i), a = layout.after(i), net = Math.max(2, (Math.abs(a - b) / (a + b || 1)) * width);
        // Grew is solid and on the right, shrank is hatched and on the left: both are seen
        // without color.
        if (sign > 0) {
          g.fillStyle = k.grew;
          g.fillRect(x + width - net, y, net, height);
        } else {
          g.fillStyle = k.shrank;
          g.fillRect(x, y, net, height);
          g.save();
          g.beginPath();
          g.rect(x, y, net, height);
          g.clip();
          g.strokeStyle = k.shrankLine;
          g.lineWidth = 1;
          g.beginPath();
          for (let t = x - height - ((x - height) % 6); t < x + net; t += 6) {
            g.moveTo(t, y + height);
            g.lineTo(t + height, y);
          }
          g.stroke();
          g.restore();
        }
      }
      const flags = tree.flags[i];
      if (k.boxes && width > 2) {
        g.strokeStyle = k.line;
        g.lineWidth = 0.5;
        g.strokeRect(x, y, width, height);
      }
      if (s.mode === "diff" && flags & (ONLY_HEAD | ONLY_BASE) && width > 4) {
        g.strokeStyle = k.line;
        g.lineWidth = 1;
        g.setLineDash(flags & ONLY_BASE ? [3, 3] : []);
        g.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
        g.setLineDash([]);
      }
      const left = Math.max(x, 0), room = Math.floor((Math.min(x + width, W) - left - 6) / char);
      if (room >= 3) {
        g.fillStyle = k.text;
        g.fillText(shorter(data.label(tree.fn[i]), room), left + 4, y + height / 2 + 0.5);
      }
      if (i === selected) {
        g.strokeStyle = k.focus;
        g.lineWidth = 2;
        g.strokeRect(x + 1, y + 1, Math.max(width - 2, 1), height - 2);
      }
    };
    for (let i = tree.parent[zoom]; i >= 0; i = tree.parent[i]) one(i, 0, W);
    for (let i = zoom; i < tree.end[zoom]; ) {
      const x = (layout.x[i] - x0) * scale, w = layout.width(i) * scale;
      if (w < 0.5) {
        // Nothing below is wider; a decided change is at least seen.
        if (layout.sign(i) !== 0 && w > 0) one(i, x, 2);
        i = tree.end[i];
        continue;
      }
      one(i, x, w);
      i++;
    }
  }
  useEffect(draw);
  useEffect(() => {
    const resized = new ResizeObserver(draw);
    if (view.current) resized.observe(view.current);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => { resized.disconnect(); dark.removeEventListener("change", draw); };
  });
  useEffect(() => { setSelected(zoom); reveal(zoom); }, [zoom, tree]);

  function reveal(i: number) {
    const v = view.current;
    if (!v) return;
    const y = tree.level[i] * ROW;
    if (y < v.scrollTop) v.scrollTop = Math.max(0, y - ROW);
    else if (y + ROW > v.scrollTop + v.clientHeight) v.scrollTop = y + 2 * ROW - v.clientHeight;
  }
  function select(i: number) {
    setSelected(i);
    reveal(i);
  }
  const zoomTo = (i: number) => go(s, { frame: i, report: i > 0 ? report : "" });
  function hit(ev: MouseEvent): number {
    const v = view.current!, box = v.getBoundingClientRect();
    const x = ev.clientX - box.left - v.clientLeft, row = rows.current[Math.floor((ev.clientY - box.top - v.clientTop + v.scrollTop) / ROW)];
    if (!row) return -1;
    let lo = 0, hi = row.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (row[mid].x + row[mid].w < x) lo = mid + 1;
      else hi = mid;
    }
    return lo < row.length && row[lo].x <= x ? row[lo].i : -1;
  }
  function jump(step: number) {
    if (decided.length === 0) return;
    let at = decided.findIndex((i) => (step > 0 ? i > selected : i >= selected));
    if (at < 0) at = decided.length;
    select(decided[(at + (step > 0 ? 0 : -1) + decided.length) % decided.length]);
  }
  function key(ev: KeyboardEvent) {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const t = tree, i = selected;
    const widest = (list: number[]) => list.reduce((best, c) => (best < 0 || layout.width(c) > layout.width(best) ? c : best), -1);
    const children = (p: number) => { const list = []; for (let c = p + 1; c < t.end[p]; c = t.end[c]) if (layout.width(c) > 0) list.push(c); return list; };
    switch (ev.key) {
      case "ArrowDown": { const c = widest(children(i)); if (c >= 0) select(c); break; }
      case "ArrowUp": if (t.parent[i] >= 0) select(t.parent[i]); break;
      case "ArrowRight": case "ArrowLeft": {
        if (t.parent[i] < 0) break;
        const list = children(t.parent[i]), at = list.indexOf(i) + (ev.key === "ArrowRight" ? 1 : -1);
        if (list[at] !== undefined) select(list[at]);
        break;
      }
      case "Enter": zoomTo(i); break;
      case "Escape": zoomTo(0); break;
      case "Backspace": if (t.parent[zoom] >= 0) zoomTo(t.parent[zoom]); break;
      case "n": jump(1); break;
      case "p": jump(-1); break;
      case "f": open(i); break;
      default: return;
    }
    ev.preventDefault();
  }
  function open(i: number) {
    const fn = tree.fn[i];
    if (fn >= 0) go(s, { view: "function", fn: data.functions[fn].name, dso: data.functions[fn].dso });
  }
  const text = (i: number) => {
    const b = tree.totalBase[i], a = tree.totalHead[i], B = tree.totalBase[0], A = tree.totalHead[0];
    return `before ${cost(e, b, 3)} (${share(b / B)}), after ${cost(e, a, 3)} (${share(a / A)}), ` +
      (s.scale === "share" ? points(a / A - b / B) : `${delta(e, a - b, 3)}, ${relative({ base: b, head: a, ratio: null })}`);
  };
  const state = (i: number) => {
    const f = tree.flags[i];
    return (f & GREW ? "▲ decided: grew" : f & SHRANK ? "▼ decided: shrank" : "no decided change") + (f & ONLY_HEAD ? "; only after" : f & ONLY_BASE ? "; only before" : "");
  };
  const self = (i: number) => `self ${cost(e, tree.selfBase[i], 3)} → ${cost(e, tree.selfHead[i], 3)}`;
  const sel = Math.min(selected, tree.size - 1);
  const height = Math.min(Math.max(depth * ROW + 2, 240), 620);
  const choice = (name: "mode" | "scale" | "dir", legend: string, options: [string, string][]) => (
    <fieldset><legend>{legend}</legend>{options.map(([value, label]) => (
      <label key={value}><input type="radio" name={name} checked={s[name] === value} onChange={() => go(s, { [name]: value, ...(name === "dir" ? { frame: 0, report: "" } : {}) } as Partial<State>)} /> {label}</label>
    ))}</fieldset>
  );
  return (
    <div>
      <div class="controls">
        {choice("mode", "Width:", [["diff", "before + after"], ["before", "before"], ["after", "after"]])}
        {choice("scale", "Cost:", [["absolute", e.share ? "as compared" : e.per === "operation" ? "absolute, per operation" : "absolute, a run"], ["share", "share of each side"]])}
        {choice("dir", "Order:", [["down", "top-down"], ["up", "bottom-up"]])}
        <label><input type="checkbox" checked={s.tree} onChange={() => go(s, { tree: !s.tree })} /> as a table</label>
      </div>
      <div class="controls dim">
        {s.mode === "diff" ? <span><span class="swatch" />no decided change <span> · </span><span class="swatch grew" />grew <span> · </span><span class="swatch shrank" />shrank (decided; the part filled is the net change) <span> · </span><span class="swatch new" />only after <span> · </span><span class="swatch gone" />only before</span> : <span>Widths are those of one side; changes are marked with both.</span>}
        {s.scale === "share" && s.mode === "diff" ? <span>Shares have no test of their own: filled where the absolute change was decided and the share changed the same way.</span> : null}
        {s.dir === "up" ? <span>Decided here are self costs of functions, in the first row.</span> : null}
      </div>
      <p class="dim" role="status">
        {found ? <span>{match.error ? <b class="error">{match.error}</b> : <span>{plural(found.frames, "frame")} match{found.frames === 1 ? "es" : ""}{s.dir === "down" ? <span>: before {cost(e, found.before, 3)} ({share(found.before / tree.totalBase[0])}), after {cost(e, found.after, 3)} ({share(found.after / tree.totalHead[0])}), {delta(e, found.after - found.before, 3)}</span> : null}.</span>}</span> : null}
        {e.all_frames > e.frames ? <span> {count(e.all_frames)} frames were merged to {count(e.frames)} rows: those left out are below {share(e.least)} of either side and stand as “smaller frames” with exact sums.</span> : null}
        {s.frame > 0 && s.report !== "" && s.report !== report ? <b class="error"> The link is to a frame of another report ({s.report}); this one is {report}.</b> : null}
      </p>
      {s.tree ? <TreeTable s={s} data={data} tree={tree} zoom={zoom} /> : (
        <div class="flame">
          <div>
            <div class="view" ref={view} style={{ height: height + "px" }} onScroll={draw} onMouseLeave={() => setTip(null)}>
              <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription="flame graph" aria-label={`Flame graph of ${e.name}; the check box “as a table” shows the same as a table`}
                aria-describedby="selected keys" onKeyDown={key}
                onClick={(ev: MouseEvent) => { const i = hit(ev); if (i >= 0) { setSelected(i); zoomTo(i); } }}
                onMouseMove={(ev: MouseEvent) => { const i = hit(ev); setTip(i < 0 ? null : { i, x: ev.clientX, y: ev.clientY }); }} />
              <div style={{ height: Math.max(0, depth * ROW - height + 2) + "px" }} />
            </div>
            <div class="selected" id="selected" aria-live="polite">
              <bdi class="name"><b>{data.label(tree.fn[sel])}</b></bdi>
              {tree.fn[sel] >= 0 ? <span><button type="button" class="button" onClick={() => open(sel)}>Function</button><Copy text={() => data.label(tree.fn[sel])} label="Copy name" /></span> : null}
              {zoom > 0 ? <button type="button" class="button" onClick={() => zoomTo(0)}>Show all</button> : null}
              <br />{text(sel)}; {self(sel)} <span class="dim">· {state(sel)}</span>
            </div>
          </div>
          <div>
            <h3 style={{ marginTop: 0 }}>Largest decided changes in view</h3>
            {largest.length === 0 ? <p class="none">{e.single ? "None: one run a side decides nothing." : e.withheld ? "None: verdicts are withheld." : s.mode !== "diff" ? "Shown with the width of both sides." : "None: no change in view is decided."}</p> : (
              <ul class="changes">{largest.map((i) => (
                <li key={i}><button type="button" aria-current={i === sel} onClick={() => select(i)} onDblClick={() => zoomTo(i)} title={data.label(tree.fn[i])}>
                  <bdi class="name elide">{shorter(data.label(tree.fn[i]), 40)}</bdi>
                  <span class={layout.sign(i) > 0 ? "regressed" : "improved"}><span class="mark" aria-hidden="true">{layout.sign(i) > 0 ? "▲ " : "▼ "}</span>{s.scale === "share" ? points(layout.after(i) - layout.before(i)) : delta(e, tree.totalHead[i] - tree.totalBase[i], 3)}</span>
                </button></li>
              ))}</ul>
            )}
            {decided.length > 0 ? <p class="controls"><button type="button" class="button" onClick={() => jump(-1)}>← previous</button><button type="button" class="button" onClick={() => jump(1)}>next →</button><span class="dim">{plural(decided.length, "decided frame")}</span></p> : null}
            <p class="keys" id="keys"><kbd>↑</kbd> <kbd>↓</kbd> <kbd>←</kbd> <kbd>→</kbd> move · <kbd>Enter</kbd> or click zoom · <kbd>Esc</kbd> all · <kbd>n</kbd> <kbd>p</kbd> next, previous decided change · <kbd>f</kbd> function</p>
          </div>
          {tip ? <div class="tip" style={{ left: Math.max(4, Math.min(tip.x + 14, window.innerWidth - 600)) + "px", top: Math.min(tip.y + 16, window.innerHeight - 110) + "px" }}><bdi class="name"><b>{data.label(tree.fn[tip.i]).slice(0, 600)}</b></bdi><br />{text(tip.i)}<br />{self(tip.i)} <span class="dim">· {state(tip.i)}</span></div> : null}
        </div>
      )}
    </div>
  );
}
