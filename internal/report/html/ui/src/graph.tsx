// One graph of frames on a canvas of the size of the view: what is drawn, hit and reached by keys.

import { h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Rect, ROW, type Scene, colors, heightOf, mono, onCanvas, paint } from "./paint";

type Props = Scene & {
  label: string; lowest: number; tallest: number;
  about: (i: number) => preact.ComponentChildren;
  onSelect: (i: number) => void; onOpen: (i: number) => void;
  /** A key that the graph does not take. */
  onKey: (key: string, i: number) => boolean;
};

export function Graph(p: Props) {
  const { layout, zoom, flip, selected } = p, { tree } = layout;
  const [tip, setTip] = useState<{ i: number; x: number; y: number } | null>(null);
  const canvas = useRef<HTMLCanvasElement>(null), view = useRef<HTMLDivElement>(null), rects = useRef<Rect[][]>([]), size = useRef({ W: 0, H: 0 });
  const rows = heightOf(p), height = Math.min(Math.max(rows * ROW + 2, p.lowest), p.tallest);

  function draw() {
    const c = canvas.current, v = view.current;
    if (!c || !v) return;
    const ratio = devicePixelRatio || 1, W = v.clientWidth, H = v.clientHeight;
    size.current = { W, H };
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
    g.font = mono();
    g.textBaseline = "middle";
    rects.current = paint(p, onCanvas(g), k, W, H, v.scrollTop, g.measureText("mmmmmmmmmm").width / 10 || 7);
  }
  useEffect(draw);
  useEffect(() => {
    // It also tells the size at first, which is drawn already.
    const resized = new ResizeObserver(() => { const v = view.current; if (v && (v.clientWidth !== size.current.W || v.clientHeight !== size.current.H)) draw(); });
    if (view.current) resized.observe(view.current);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => { resized.disconnect(); dark.removeEventListener("change", draw); };
  });
  const rowOf = (i: number) => (flip ? rows - 1 - tree.level[i] : tree.level[i]);
  useEffect(() => {
    // The root is in view, or what is selected.
    const v = view.current!, y = rowOf(Math.max(0, selected)) * ROW;
    if (y < v.scrollTop) v.scrollTop = Math.max(0, y - ROW);
    else if (y + ROW > v.scrollTop + v.clientHeight) v.scrollTop = y + 2 * ROW - v.clientHeight;
  }, [selected, tree, zoom]);

  function hit(ev: MouseEvent): number {
    const v = view.current!, box = v.getBoundingClientRect();
    const x = ev.clientX - box.left - v.clientLeft, at = Math.floor((ev.clientY - box.top - v.clientTop + v.scrollTop) / ROW);
    const row = rects.current[flip ? rows - 1 - at : at];
    if (!row) return -1;
    let lo = 0, hi = row.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (row[mid].x + row[mid].w < x) lo = mid + 1;
      else hi = mid;
    }
    return lo < row.length && row[lo].x <= x ? row[lo].i : -1;
  }
  function key(ev: KeyboardEvent) {
    if (ev.ctrlKey || ev.metaKey || ev.altKey) return;
    const i = Math.max(0, selected), parent = tree.parent[i];
    const children = (f: number) => { const list = []; for (let c = f + 1; c < tree.end[f]; c = tree.end[c]) if (layout.width(c) > 0) list.push(c); return list; };
    switch (ev.key) {
      case flip ? "ArrowUp" : "ArrowDown": {
        const widest = children(i).reduce((best, c) => (best < 0 || layout.width(c) > layout.width(best) ? c : best), -1);
        if (widest >= 0) p.onSelect(widest);
        break;
      }
      case flip ? "ArrowDown" : "ArrowUp": if (parent >= 0) p.onSelect(parent); else p.onKey(ev.key, i); break;
      case "ArrowRight": case "ArrowLeft": {
        if (parent < 0) break;
        const list = children(parent), next = list[list.indexOf(i) + (ev.key === "ArrowRight" ? 1 : -1)];
        if (next !== undefined) p.onSelect(next);
        break;
      }
      case "Enter": p.onOpen(i); break;
      default: if (!p.onKey(ev.key, i)) return;
    }
    ev.preventDefault();
  }
  return (
    <div class="view" ref={view} style={{ height: height + "px" }} onScroll={draw} onMouseLeave={() => setTip(null)}>
      <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription="flame graph" aria-label={p.label} aria-describedby="selected" onKeyDown={key}
        onClick={(ev: MouseEvent) => { const i = hit(ev); if (i >= 0) { p.onSelect(i); p.onOpen(i); } }}
        onMouseMove={(ev: MouseEvent) => { const i = hit(ev); setTip(i < 0 ? null : { i, x: ev.clientX, y: ev.clientY }); }} />
      <div style={{ height: Math.max(0, rows * ROW - height + 2) + "px" }} />
      {tip ? <div class="tip" style={{ left: Math.max(4, Math.min(tip.x + 14, innerWidth - 600)) + "px", top: Math.min(tip.y + 16, innerHeight - 130) + "px" }}>{p.about(tip.i)}</div> : null}
    </div>
  );
}
