// The flame graph: an icicle, root on top, drawn on a canvas of the size of the view.

import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type EventData, ONLY_BASE, ONLY_HEAD, type Part } from "./data";
import { cost, delta, leftOut, plural, relative, share, points, shorter } from "./format";
import { Layout } from "./layout";
import { Button, Copy, Dim, Marked, None } from "./parts";
import { matcher } from "./search";
import { type State, go, openCard } from "./state";
import { TreeTable } from "./treetable";

/** Keys, and between them what they do. */
const KEYS = "↑| |↓| |←| |→| move · |Enter| or click zoom · |Esc| all · |n| |p| next, previous decided change · |f| function";
const ROW = 19;

type Rect = { i: number; x: number; w: number };

type Colors = Record<"bg" | "frame" | "alt" | "text" | "line" | "grew" | "shrank" | "shrankLine" | "match" | "focus", string> & { boxes?: boolean };

function colors(): Colors {
  const css = getComputedStyle(document.documentElement);
  if (matchMedia("(forced-colors: active)").matches) {
    return { bg: "Canvas", frame: "ButtonFace", alt: "ButtonFace", text: "ButtonText", line: "CanvasText", grew: "Mark", shrank: "Canvas", shrankLine: "CanvasText", match: "Mark", focus: "Highlight", boxes: true };
  }
  const [bg, frame, alt, text, line, grew, shrank, shrankLine, match, focus] = "bg|frame|frame-alt|frame-text|frame-line|grew-fill|shrank-fill|shrank-line|match|focus".split("|").map((name) => css.getPropertyValue("--" + name).trim());
  return { bg, frame, alt, text, line, grew, shrank, shrankLine, match, focus };
}

/** Of a part of an event frames have its costs only; s.span is what chose it. */
export function Flame({ s, data: whole, report, part }: { s: State; data: EventData; report: string; part?: Part }) {
  const data = useMemo(() => (part ? whole.of(part) : whole), [whole, part]);
  const e = data.meta;
  const layout = useMemo(() => new Layout(data, s.mode, s.scale, s.dir), [data, s.mode, s.scale, s.dir]);
  const { tree, up, byShare } = layout, diff = s.mode === "diff";
  const foreign = s.report !== "" && s.report !== report, zoom = s.frame < tree.size && !foreign ? s.frame : 0;
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
        before += tree.totalBase[i];
        after += tree.totalHead[i];
        until = tree.end[i];
      }
    }
    return { hit, frames, before, after };
  }, [tree, s.q, data]);
  // What was decided in view, in preorder.
  const decided = useMemo(() => {
    const list: number[] = [];
    for (let i = zoom; i < tree.end[zoom]; i++) if (i > 0 && diff && layout.decided(i)) list.push(i);
    return list;
  }, [layout, zoom]);
  // Of callers that pass a change on, the last is listed.
  const largest = useMemo(() => {
    const d = (i: number) => Math.abs(layout.delta(i));
    const passes = (i: number, at: number) => {
      for (let k = at + 1; decided[k] < tree.end[i]; k++) if (layout.decided(decided[k]) === layout.decided(i) && d(decided[k]) > 0.9 * d(i)) return true;
      return false;
    };
    return decided.filter((i, at) => !passes(i, at)).sort((a, b) => d(b) - d(a) || a - b);
  }, [decided]);
  const depth = useMemo(() => {
    let max = 0;
    for (let i = zoom; i < tree.end[zoom]; i++) if (tree.level[i] > max) max = tree.level[i];
    return max + 1;
  }, [tree, zoom]);

  function draw() {
    const c = canvas.current, v = view.current;
    if (!c || !v) return;
    const ratio = devicePixelRatio || 1, W = v.clientWidth, H = v.clientHeight, top = v.scrollTop;
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
    g.font = "11.5px " + getComputedStyle(document.documentElement).getPropertyValue("--mono");
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
      const decided = diff ? layout.decided(i) : "";
      const left = Math.max(x, 0), room = Math.floor((Math.min(x + width, W) - left - 6) / char);
      const label = room >= 3 ? shorter(data.label(tree.fn[i]), room) : "";
      if (decided) {
        const b = layout.before(i), a = layout.after(i), net = Math.max(2, (Math.abs(a - b) / (a + b || 1)) * width);
        // Grew is solid and on the right, shrank is hatched and on the left: both are seen
        // without color.
        const grew = decided === "regressed";
        g.fillStyle = grew ? k.grew : k.shrank;
        g.fillRect(grew ? x + width - net : x, y, net, height);
        if (!grew) {
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
          // No line runs through the name.
          g.strokeStyle = k.shrank;
          g.lineWidth = 4;
          g.strokeText(label, left + 4, y + height / 2 + 0.5);
          g.restore();
        }
      }
      const flags = tree.flags[i];
      const box = (color: string, line: number) => {
        g.strokeStyle = color;
        g.lineWidth = line;
        g.strokeRect(x + line / 2, y + line / 2, Math.max(width - line, 1), height - line);
      };
      if (k.boxes && width > 2) box(k.line, 0.5);
      if (diff && flags & (ONLY_HEAD | ONLY_BASE) && width > 4) {
        g.setLineDash(flags & ONLY_BASE ? [3, 3] : []);
        box(k.line, 1);
        g.setLineDash([]);
      }
      g.fillStyle = k.text;
      g.fillText(label, left + 4, y + height / 2 + 0.5);
      if (i === selected) box(k.focus, 2);
    };
    for (let i = tree.parent[zoom]; i >= 0; i = tree.parent[i]) one(i, 0, W);
    for (let i = zoom; i < tree.end[zoom]; ) {
      const x = (layout.x[i] - x0) * scale, w = layout.width(i) * scale;
      if (w < 0.5) {
        // Nothing below is wider; a decided change is at least seen.
        if (w > 0 && layout.decided(i)) one(i, x, 2);
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
      case "f": openCard(s, data.functions[t.fn[i]]); break;
      default: return;
    }
    ev.preventDefault();
  }
  const name = (i: number) => data.label(tree.fn[i]);
  const sum = (i: number) => {
    const b = tree.totalBase[i], a = tree.totalHead[i], B = tree.totalBase[0], A = tree.totalHead[0];
    return `before ${cost(e, b, 3)} (${share(b / B)}), after ${cost(e, a, 3)} (${share(a / A)}), ` +
      (byShare ? points(layout.delta(i)) : `${delta(e, a - b, 3)}, means ${relative({ base: b, head: a, ratio: null })}`);
  };
  const about = (i: number) => <span><br />{sum(i)}{up ? "" : `; self ${cost(e, tree.selfBase[i], 3)} → ${cost(e, tree.selfHead[i], 3)}`} <Dim>· {layout.said(i)}</Dim></span>;
  const sel = Math.min(selected, tree.size - 1);
  const height = Math.min(Math.max(depth * ROW + 2, 240), 620);
  const choice = (name: "mode" | "scale" | "dir", legend: string, options: string) => (
    <fieldset><legend>{legend}</legend>{options.split("|").map((o) => {
      const [value, label = value] = o.split(":");
      return <label key={value}><input type="radio" name={name} checked={s[name] === value} onChange={() => go(s, { [name]: value, ...(name === "dir" ? { frame: 0, report: "" } : {}) } as Partial<State>)} /> {label}</label>;
    })}</fieldset>
  );
  return (
    <div>
      <div class="controls">
        {choice("mode", "Width:", "diff:before + after|before|after")}
        {e.share ? null : choice("scale", "Cost:", "absolute:absolute, " + (e.per === "operation" ? "per operation" : "a run") + "|share:share of each side")}
        {choice("dir", "Order:", "down:top-down|up:bottom-up")}
        <label><input type="checkbox" checked={s.tree} onChange={() => go(s, { tree: !s.tree })} /> as a table</label>
      </div>
      <div class="controls dim">
        {diff ? <span>{["|no decided change", "grew|grew", "shrank|shrank (decided; the part filled is the net change)", "new|only after", "gone|only before"].map((l, i) => {
          const [cls, text] = l.split("|");
          return [i > 0 ? " · " : "", <span class={"swatch " + cls} />, text];
        })}</span> : <span>Widths are those of one side; changes are marked with both.</span>}
        {byShare ? <span>Nothing is filled: costs were tested, not shares of a side. --normalize total tests shares.</span>
          : up ? <span>Filled is the self cost of functions, the first row. What each caller has of it was not tested.</span> : null}
      </div>
      <p class="dim" role="status">
        {found ? <span>{match.error ? <b class="error">{match.error}</b> : <span>{plural(found.frames, "frame")} match{found.frames === 1 ? "es" : ""}{up ? null : <span>: before {cost(e, found.before, 3)} ({share(found.before / tree.totalBase[0])}), after {cost(e, found.after, 3)} ({share(found.after / tree.totalHead[0])}), {delta(e, found.after - found.before, 3)}</span>}.</span>}</span> : null}
        {" " + leftOut(e)}
        {part ? <span> Only {part.says}, of which nothing was tested. <Button on={() => go(s, { span: "" })}>All of the time</Button></span> : null}
        {s.frame > 0 && foreign ? <b class="error"> The link is to a frame of another report ({s.report}); this one is {report}.</b> : null}
      </p>
      {s.tree ? <TreeTable key={s.dir} s={s} layout={layout} zoom={zoom} /> : (
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
              <bdi class="name"><b>{name(sel)}</b></bdi>
              {tree.fn[sel] >= 0 ? <span><Button on={() => openCard(s, data.functions[tree.fn[sel]])}>Function</Button><Copy text={() => name(sel)} label="Copy name" /></span> : null}
              {zoom > 0 ? <Button on={() => zoomTo(0)}>Show all</Button> : null}
              {about(sel)}
            </div>
          </div>
          <div>
            <h3 style={{ marginTop: 0 }}>Largest decided changes in view</h3>
            {largest.length === 0 ? <None>{part ? "None: a part of the time was not tested." : e.single ? "None: one run a side decides nothing." : e.withheld ? "None: verdicts are withheld." : byShare ? "None: shares were not tested." : !diff ? "Shown with the width of both sides." : "None: no change in view is decided."}</None> : (
              <ul class="changes">{largest.slice(0, 10).map((i) => (
                <li key={i}><button type="button" aria-current={i === sel} onClick={() => { select(i); canvas.current!.focus(); }} title={name(i)}>
                  <span class="elide"><bdi class="name">{shorter(name(i), 40)}</bdi>{tree.parent[i] > 0 ? <span class="note block elide">in <bdi>{shorter(name(tree.parent[i]), 36)}</bdi></span> : null}</span>
                  <Marked v={layout.decided(i)}>{delta(e, layout.delta(i), 3)}</Marked>
                </button></li>
              ))}</ul>
            )}
            {decided.length > 0 ? <p class="controls"><Button on={() => jump(-1)}>← previous</Button><Button on={() => jump(1)}>next →</Button><Dim>{plural(decided.length, "decided frame")}{largest.length < decided.length ? ", with callers that pass a change on" : ""}</Dim></p> : null}
            <p class="keys" id="keys">{KEYS.split("|").map((k) => k[0] === " " ? k : <kbd>{k}</kbd>)}</p>
          </div>
          {tip ? <div class="tip" style={{ left: Math.max(4, Math.min(tip.x + 14, innerWidth - 600)) + "px", top: Math.min(tip.y + 16, innerHeight - 110) + "px" }}><bdi class="name"><b>{name(tip.i).slice(0, 600)}</b></bdi>{about(tip.i)}</div> : null}
        </div>
      )}
    </div>
  );
}
