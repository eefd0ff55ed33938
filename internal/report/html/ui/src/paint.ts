// How frames are drawn, on a canvas or as SVG.

import { ONLY_BASE, ONLY_HEAD, type Tree } from "./data";
import type { Layout } from "./layout";
import { elide } from "./names";

export const ROW = 19;

/** Where a frame was drawn. */
export type Rect = { i: number; x: number; w: number };

type Colors = Record<"bg" | "frame" | "alt" | "text" | "line" | "grew" | "shrank" | "shrankLine" | "match" | "focus", string> & { boxes?: boolean };

/** What is drawn: the frames below zoom, with the root below if flip is set. */
export type Scene = {
  layout: Layout; zoom: number; flip: boolean; found: Uint8Array | null; selected: number;
  /** The color of a frame; none where colors are of decided changes. */
  fill: ((i: number) => string) | null;
};

type Surface = {
  fill(x: number, y: number, w: number, h: number, color: string, opacity?: number): void;
  /** A hatched area, and a name that no line of it runs through. */
  hatch(x: number, y: number, w: number, h: number, k: Colors, name: string, at: number): void;
  box(x: number, y: number, w: number, h: number, color: string, line: number, dashed?: boolean): void;
  text(s: string, x: number, y: number, color: string): void;
  /** What follows is of a frame, with a text for whoever points at it. */
  frame?(title: () => string): void;
};

const style = () => getComputedStyle(document.documentElement);
export const mono = () => "11.5px " + style().getPropertyValue("--mono");
export const isDark = () => style().colorScheme === "dark";

export function colors(): Colors {
  if (matchMedia("(forced-colors: active)").matches) {
    return { bg: "Canvas", frame: "ButtonFace", alt: "ButtonFace", text: "ButtonText", line: "CanvasText", grew: "Mark", shrank: "Canvas", shrankLine: "CanvasText", match: "Mark", focus: "Highlight", boxes: true };
  }
  const css = style();
  const [bg, frame, alt, text, line, grew, shrank, shrankLine, match, focus] = "bg|frame|frame-alt|frame-text|frame-line|grew-fill|shrank-fill|shrank-line|match|focus".split("|").map((name) => css.getPropertyValue("--" + name).trim());
  return { bg, frame, alt, text, line, grew, shrank, shrankLine, match, focus };
}

/** The number of rows of a frame, of those that it is called by, and of what it calls. */
export function rowsOf(t: Tree, zoom: number): number {
  if (zoom === 0) return t.depth;
  let max = 0;
  for (let i = zoom; i < t.end[zoom]; i++) if (t.level[i] > max) max = t.level[i];
  return max + 1;
}

/** The number of rows that a scene has. Below callers stands the function itself, which is no row of them. */
export const heightOf = (s: Scene) => rowsOf(s.layout.tree, s.zoom) - (s.flip ? 1 : 0);

/** Draws the part from y = 0 to H of rows that are moved up by top. Frames that were drawn are returned by level. */
export function paint(s: Scene, to: Surface, k: Colors, W: number, H: number, top: number, char: number, title?: (i: number) => string): Rect[][] {
  const { layout, zoom } = s, { tree, data } = layout, diff = layout.mode === "diff" && !s.fill;
  const drawn: Rect[][] = [], rows = heightOf(s);
  const one = (i: number, x: number, w: number) => {
    const level = tree.level[i], flags = tree.flags[i];
    (drawn[level] ??= []).push({ i, x, w });
    const y = (s.flip ? rows - 1 - level : level) * ROW - top, width = Math.max(w - (w > 3 ? 1 : 0), 0.6), height = ROW - 1;
    if (y <= -ROW || y >= H) return;
    if (title) to.frame!(() => title(i));
    const hit = s.found?.[i];
    to.fill(x, y, width, height, hit ? k.match : s.fill?.(i) || (level % 2 ? k.frame : k.alt), s.found && !hit ? 0.55 : 1);
    const left = Math.max(x, 0), room = Math.floor((Math.min(x + width, W) - left - 6) / char);
    const lead = diff ? layout.lead(i) : "", name = room >= 4 ? lead + elide(data.label(tree.fn[i]), room - lead.length) : "";
    const decided = diff ? layout.decided(i) : "";
    if (decided) {
      // Grew is solid and on the right, shrank is hatched and on the left: both are seen without color.
      const b = layout.before(i), a = layout.after(i), net = Math.max(2, (Math.abs(a - b) / (a + b || 1)) * width);
      if (decided === "regressed") to.fill(x + width - net, y, net, height, k.grew);
      else to.hatch(x, y, net, height, k, name, left + 4);
    }
    if (k.boxes && width > 2) to.box(x, y, width, height, k.line, 0.5);
    if (diff && flags & (ONLY_HEAD | ONLY_BASE) && width > 4) to.box(x, y, width, height, k.line, 1, (flags & ONLY_BASE) !== 0);
    if (name) to.text(name, left + 4, y + height / 2 + 0.5, k.text);
    if (i === s.selected) to.box(x, y, width, height, k.focus, 2);
  };
  const x0 = layout.x[zoom], scale = W / (layout.width(zoom) || 1);
  for (let i = tree.parent[zoom]; i >= 0; i = tree.parent[i]) one(i, 0, W);
  for (let i = zoom; i < tree.end[zoom]; ) {
    const x = (layout.x[i] - x0) * scale, w = layout.width(i) * scale;
    if (w >= 0.5) one(i++, x, w);
    else {
      // Nothing below is wider; a decided change is at least seen.
      if (w > 0 && layout.decided(i)) one(i, x, 2);
      i = tree.end[i];
    }
  }
  return drawn;
}

export const onCanvas = (g: CanvasRenderingContext2D): Surface => ({
  fill(x, y, w, h, color, opacity = 1) {
    g.globalAlpha = opacity;
    g.fillStyle = color;
    g.fillRect(x, y, w, h);
    g.globalAlpha = 1;
  },
  hatch(x, y, w, h, k, name, at) {
    g.save();
    g.beginPath();
    g.rect(x, y, w, h);
    g.clip();
    g.fillStyle = k.shrank;
    g.fillRect(x, y, w, h);
    g.strokeStyle = k.shrankLine;
    g.lineWidth = 1;
    g.beginPath();
    for (let t = x - h - ((x - h) % 6); t < x + w; t += 6) {
      g.moveTo(t, y + h);
      g.lineTo(t + h, y);
    }
    g.stroke();
    g.strokeStyle = k.shrank;
    g.lineWidth = 4;
    g.strokeText(name, at, y + h / 2 + 0.5);
    g.restore();
  },
  box(x, y, w, h, color, line, dashed) {
    g.strokeStyle = color;
    g.lineWidth = line;
    g.setLineDash(dashed ? [3, 3] : []);
    g.strokeRect(x + line / 2, y + line / 2, Math.max(w - line, 1), h - line);
    g.setLineDash([]);
  },
  text(s, x, y, color) {
    g.fillStyle = color;
    g.fillText(s, x, y);
  },
});

const xml = (s: string) => s.replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";");
const near = (v: number) => String(Math.round(v * 10) / 10);

function onSVG(out: string[]): Surface {
  let open = false;
  const rect = (x: number, y: number, w: number, h: number, more: string) => out.push(`<rect x="${near(x)}" y="${near(y)}" width="${near(w)}" height="${near(h)}" ${more}/>`);
  return {
    fill: (x, y, w, h, color, opacity = 1) => rect(x, y, w, h, `fill="${color}"${opacity < 1 ? ` fill-opacity="${opacity}"` : ""}`),
    hatch(x, y, w, h, k, name, at) {
      rect(x, y, w, h, `fill="url(#shrank)"`);
      out.push(`<text x="${near(at)}" y="${near(y + h / 2 + 0.5)}" stroke="${k.shrank}" stroke-width="4">${xml(name)}</text>`);
    },
    box: (x, y, w, h, color, line, dashed) => rect(x + line / 2, y + line / 2, Math.max(w - line, 1), h - line, `fill="none" stroke="${color}" stroke-width="${line}"${dashed ? ` stroke-dasharray="3 3"` : ""}`),
    text: (s, x, y, color) => out.push(`<text x="${near(x)}" y="${near(y)}" fill="${color}">${xml(s)}</text>`),
    frame(title) {
      out.push((open ? "</g>" : "") + `<g><title>${xml(title())}</title>`);
      open = true;
    },
  };
}

const WIDTH = 1400, HEAD = 20;
/** Browsers draw no picture higher than this. */
const HIGHEST = 16000;

const heightOfAll = (scenes: Scene[], lines: string[]) => lines.length * HEAD + 8 + scenes.reduce((sum, s) => sum + heightOf(s) * ROW, 0);

function all(scenes: Scene[], lines: string[], to: Surface, k: Colors, char: number, H: number, title?: (s: Scene, i: number) => string) {
  to.fill(0, 0, WIDTH, H, k.bg);
  lines.forEach((l, i) => to.text(elide(l, Math.floor(WIDTH / char) - 2), 4, HEAD / 2 + i * HEAD, k.text));
  let y = lines.length * HEAD + 4;
  for (const s of scenes) {
    paint({ ...s, selected: -1 }, to, k, WIDTH, H, -y, char, title && ((i) => title(s, i)));
    y += heightOf(s) * ROW;
  }
}

/** Graphs below each other as a file, with lines of text above. */
export function svg(scenes: Scene[], lines: string[], title: (s: Scene, i: number) => string): string {
  const k = colors(), H = heightOfAll(scenes, lines), out: string[] = [];
  all(scenes, lines, onSVG(out), k, 7, H, title);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${H}" viewBox="0 0 ${WIDTH} ${H}" font-family="ui-monospace, monospace" font-size="11.5" dominant-baseline="central">` +
    `<defs><pattern id="shrank" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0H6V6H0Z" fill="${k.shrank}"/><path d="M0 0V6" stroke="${k.shrankLine}" stroke-width="2"/></pattern></defs>` +
    out.join("\n") + "</g></svg>\n";
}

export function png(scenes: Scene[], lines: string[]): Promise<Blob> {
  const H = Math.min(heightOfAll(scenes, lines), HIGHEST), ratio = H > HIGHEST / 2 ? 1 : 2, c = document.createElement("canvas");
  c.width = WIDTH * ratio;
  c.height = H * ratio;
  const g = c.getContext("2d")!;
  g.scale(ratio, ratio);
  g.font = mono();
  g.textBaseline = "middle";
  all(scenes, lines, onCanvas(g), colors(), g.measureText("m").width || 7, H);
  return new Promise((done) => c.toBlob((b) => done(b!), "image/png"));
}
