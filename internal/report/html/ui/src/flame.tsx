// The flame graph: icicles, root on top; and what is around one function.

import { h } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type EventData, type Fn, GREW, SHRANK } from "./data";
import { cost, delta, leftOut, plural, relative, share, points, word } from "./format";
import { Graph } from "./graph";
import { Layout } from "./layout";
import { around } from "./merged";
import { elide } from "./names";
import { type Scene, isDark, png, svg } from "./paint";
import { Button, Copy, Dim, Marked, None } from "./parts";
import { matcher } from "./search";
import type { Pictures } from "./share";
import { type State, bothOf, format, go, openCard } from "./state";
import { TreeTable } from "./treetable";
import type { Meta } from "./types";

/** Hues of modules and threads, those of the greatest cost first; others have none. */
const HUES = [212, 28, 140, 285, 52, 335, 178, 95];

type Groups = { of: (i: number) => number; names: string[] };

const fillOf = (slot: number) => (slot < 0 ? "" : isDark() ? `hsl(${HUES[slot]} 34% 29%)` : `hsl(${HUES[slot]} 62% 84%)`);

/** Sorts frames by module, or by the thread that has most of each. */
function groupsOf({ data, tree }: Layout, by: "module" | "thread"): Groups {
  const name = (i: number): string => (by === "thread" ? (data.tree.threads?.[data.tree.thread![i]] ?? "") : data.functions[tree.fn[i]]?.dso) ?? "";
  const costs = new Map<string, number>(), { base, head } = data.meta.total;
  for (let i = 1; i < tree.size; i++) costs.set(name(i), (costs.get(name(i)) ?? 0) + tree.selfBase[i] / (base || 1) + tree.selfHead[i] / (head || 1));
  costs.delete("");
  const names = [...costs.keys()].sort((a, b) => costs.get(b)! - costs.get(a)! || (a < b ? -1 : 1)).slice(0, HUES.length);
  const slots = new Map(names.map((n, i) => [n, i]));
  return { of: (i) => slots.get(name(i)) ?? -1, names };
}

type Found = { hit: Uint8Array; frames: number; before: number; after: number };

/** Frames that match, and the cost of what is in or below any of them, counted once. */
function search({ data, tree }: Layout, test: (name: string) => boolean): Found {
  const found = { hit: new Uint8Array(tree.size), frames: 0, before: 0, after: 0 }, known = new Map<number, boolean>();
  let until = 0;
  for (let i = 1; i < tree.size; i++) {
    const fn = tree.fn[i];
    if (fn < 0) continue;
    let ok = known.get(fn);
    if (ok === undefined) known.set(fn, (ok = test(data.functions[fn].name)));
    if (!ok) continue;
    found.hit[i] = 1;
    found.frames++;
    if (i >= until) {
      found.before += tree.totalBase[i];
      found.after += tree.totalHead[i];
      until = tree.end[i];
    }
  }
  return found;
}

/** What was decided in view, in preorder; and the same without callers that pass a change on. */
function decidedIn(layout: Layout, zoom: number): { decided: number[]; largest: number[] } {
  const { tree } = layout, decided: number[] = [], d = (i: number) => Math.abs(layout.delta(i));
  const { flags } = tree, end = layout.mode === "diff" ? tree.end[zoom] : 0;
  for (let i = Math.max(1, zoom); i < end; i++) if (flags[i] & (GREW | SHRANK) && layout.decided(i)) decided.push(i);
  const passes = (i: number, at: number) => {
    for (let k = at + 1; decided[k] < tree.end[i]; k++) if (layout.decided(decided[k]) === layout.decided(i) && d(decided[k]) > 0.9 * d(i)) return true;
    return false;
  };
  return { decided, largest: decided.filter((i, at) => !passes(i, at)).sort((a, b) => d(b) - d(a) || a - b) };
}

/** The numbers of a frame. */
function numbers(layout: Layout, i: number): string {
  const { tree, data } = layout, e = data.meta, b = tree.totalBase[i], a = tree.totalHead[i], [B, A] = layout.parts(i);
  const parent = tree.parent[i], [pb, pa] = layout.parts(i, parent);
  return `before ${cost(e, b, 3)} (${share(B)}), after ${cost(e, a, 3)} (${share(A)}), ` +
    (layout.byShare ? points(layout.delta(i)) : `${delta(e, a - b, 3)}, ${a === 0 || b === 0 ? "" : "means "}${relative({ base: b, head: a, ratio: null })}`) +
    (parent > 0 || layout.kind.startsWith("c") && parent === 0 ? `; ${share(pb)} → ${share(pa)} of ${layout.kind === "down" || layout.kind === "callees" ? "its caller" : "what it calls"}` : "") +
    (layout.kind === "down" ? `; self ${cost(e, tree.selfBase[i], 3)} → ${cost(e, tree.selfHead[i], 3)}` : "");
}

/** The callers of a frame, as links, from the root on. */
function Path({ s, layout, zoom, report }: { s: State; layout: Layout; zoom: number; report: string }) {
  const path: number[] = [];
  for (let i = zoom; i >= 0; i = layout.tree.parent[i]) path.unshift(i);
  // Of a long path the ends.
  const left = path.length > 9 ? path.splice(2, path.length - 8).length : 0;
  return (
    <nav class="path" aria-label="Path of the zoomed frame"><ol>{path.map((i, at) => {
      const full = layout.data.label(layout.tree.fn[i]);
      return [
        at === 2 && left > 0 ? <li key="left"><Dim>… {left} more</Dim></li> : null,
        <li key={i}><a href={format({ ...s, frame: i, report: i > 0 ? report : "" })} aria-current={i === zoom ? "location" : undefined} title={full}><bdi class="name">{elide(full, i === zoom ? 60 : 28)}</bdi></a></li>,
      ];
    })}</ol></nav>
  );
}

/** Of a part of an event data has its costs only, and part is what it is called; s.span is what chose it. */
export function Flame({ s, data, meta, part }: { s: State; data: EventData; meta: Meta; part?: string }) {
  const report = meta.id;
  const e = data.meta, f = s.dir === "both" ? data.find(s.fn, s.dso) : undefined;
  const own: Fn | undefined = f && data.functions[f.id];
  const layouts = useMemo(() => {
    if (s.dir !== "both") return [new Layout(data, s.mode, s.scale, s.dir)];
    if (!own) return [new Layout(data, s.mode, s.scale, "down")];
    const { callers, callees } = around(data.tree, own);
    return [new Layout(data, s.mode, s.scale, "callers", callers), new Layout(data, s.mode, s.scale, "callees", callees)];
  }, [data, s.mode, s.scale, s.dir, own]);
  const layout = layouts[layouts.length - 1], { tree, up, byShare } = layout, both = layouts.length > 1, diff = s.mode === "diff";
  const foreign = s.report !== "" && s.report !== report, zoom = s.frame < tree.size && !foreign && !both ? s.frame : 0;
  const [selected, setSelected] = useState({ layout, i: zoom });
  const at = layouts.includes(selected.layout) && selected.i < selected.layout.tree.size ? selected : { layout, i: zoom };
  const root = useRef<HTMLDivElement & Pictures>(null);
  const match = matcher(s.q, s.re);
  const found = useMemo(() => (match.all ? null : layouts.map((l) => search(l, match.test))), [layouts, s.q, s.re]);
  const color = s.color === "thread" && (layout.kind !== "down" || !data.tree.threads) ? "change" : s.color;
  const groups = useMemo(() => (color === "change" ? null : layouts.map((l) => groupsOf(l, color))), [layouts, color]);
  const { decided, largest } = useMemo(() => decidedIn(layout, zoom), [layout, zoom]);
  const filled = groups?.map((g) => g.of);
  const scenes = layouts.map((l, k): Scene => ({
    layout: l, zoom: l === layout ? zoom : 0, flip: l.kind === "callers", found: found && found[k].hit, selected: l === at.layout ? at.i : -1,
    fill: filled ? (i) => fillOf(filled[k](i)) : null,
  }));
  useEffect(() => setSelected((x) => (x.layout === layout && x.i === zoom ? x : { layout, i: zoom })), [zoom, layout]);

  const focus = (k = layouts.length - 1) => root.current!.querySelectorAll("canvas")[k]?.focus();
  // From what the function calls keys lead up to its callers, and back.
  const select = (l: Layout, i: number) => {
    const back = l !== layout && i === 0;
    setSelected({ layout: back ? layout : l, i });
    if (back) focus();
  };
  const zoomTo = (i: number) => go(s, { frame: i, report: i > 0 ? report : "" });
  const functionAt = (l: Layout, i: number) => data.functions[l.tree.fn[i]];
  const open = (l: Layout, i: number) => { if (!both) zoomTo(i); else if (i > 0 && functionAt(l, i)) go(s, bothOf(functionAt(l, i))); };
  function jump(step: number) {
    if (decided.length === 0) return;
    let k = decided.findIndex((i) => (step > 0 ? i > at.i : i >= at.i));
    if (k < 0) k = decided.length;
    setSelected({ layout, i: decided[(k + (step > 0 ? 0 : -1) + decided.length) % decided.length] });
  }
  function key(l: Layout, k: string, i: number): boolean {
    switch (k) {
      case "Escape": if (both) go(s, { dir: "down" }); else zoomTo(0); return true;
      case "Backspace": if (tree.parent[zoom] >= 0) zoomTo(tree.parent[zoom]); return true;
      case "ArrowUp": if (layouts[0].tree.size > 1 && both) { select(layouts[0], 1); focus(0); } return true;
      case "n": case "p": jump(k === "n" ? 1 : -1); return true;
      case "f": openCard(s, functionAt(l, i)); return true;
      case "s": if (functionAt(l, i)) go(s, bothOf(functionAt(l, i))); return true;
    }
    return false;
  }
  const name = (l: Layout, i: number) => data.label(l.tree.fn[i]);
  const about = (l: Layout, i: number) => <span>{groups && <Dim>{thread(l, i)}</Dim>}{numbers(l, i)} <Dim>· {l.said(i)}</Dim></span>;
  const thread = (l: Layout, i: number) => color === "thread" ? (data.tree.threads![data.tree.thread![i]] ?? "several threads") + ": " : functionAt(l, i)?.dso ? functionAt(l, i).dso + ": " : "";
  const entry = (key: number, name: string, on: () => void, change: preact.VNode, current = false, caller = 0) => (
    <li key={key}><button type="button" aria-current={current} onClick={on} title={name}>
      <span class="elide"><bdi class="name">{elide(name, 27)}</bdi>{caller > 0 ? <span class="note block elide">in <bdi>{elide(data.label(tree.fn[caller]), 32)}</bdi></span> : null}</span>{change}
    </button></li>
  );
  // Of one run a side: further from noise than chance would have it.
  const leads = data.functions.filter((f) => f.self.lead).sort((a, b) => Math.abs(b.self.head - b.self.base) - Math.abs(a.self.head - a.self.base)).slice(0, 10);
  const more = word(e, "regressed"), less = word(e, "improved");
  const said = diff ? `Orange, right: ${more}; blue, hatched, left: ${less}; as far as decided. Grey: no decided change.` : `Widths are those of ${s.mode}.`;
  useEffect(() => {
    const el = root.current;
    if (!el) return;
    const lines = [`${meta.base} → ${meta.head}, ${e.name}${both ? `: callers and callees of ${own!.name}` : zoom > 0 ? ": " + name(layout, zoom) : ""}`, groups ? `Colors: ${color}s` : said];
    el.svg = () => svg(scenes, lines, (x, i) => `${name(x.layout, i)}\n${numbers(x.layout, i)}\n${x.layout.said(i)}`);
    el.png = () => png(scenes, lines);
  });
  const choice = (name: "mode" | "scale" | "dir" | "color", legend: string, options: string, more: (value: string) => Partial<State> = () => ({}), now: string = s[name]) => (
    <fieldset><legend>{legend}</legend>{options.split("|").map((o) => {
      const [value, label = value] = o.split(":");
      return <label key={value}><input type="radio" name={name} checked={now === value} onChange={() => go(s, { [name]: value, ...more(value) } as Partial<State>)} /> {label}</label>;
    })}</fieldset>
  );
  // Around which function: that of the frame which is selected, or was last looked at, or has most frames.
  const around_ = () => functionAt(at.layout, at.i) ?? data.find(s.fn, s.dso) ?? data.functions[0];
  return (
    <div>
      <div class="controls">
        {choice("mode", "Width:", "diff:before + after|before|after")}
        {e.share ? null : choice("scale", "Cost:", "absolute:absolute, " + (e.per === "operation" ? "per operation" : "a run") + "|share:share of each side")}
        {choice("dir", "Order:", "down:top-down|up:bottom-up|both:around a function", (v) => ({ frame: 0, report: "", ...(v === "both" ? bothOf(around_()) : {}) }), both ? "both" : up ? "up" : "down")}
        {choice("color", "Color:", "change:decided changes|module" + (layout.kind === "down" && data.tree.threads ? "|thread" : ""), undefined, color)}
        {both ? null : <label><input type="checkbox" checked={s.tree} onChange={() => go(s, { tree: !s.tree })} /> as a table</label>}
      </div>
      <div class="controls dim">
        {groups ? <ul class="colors" aria-label="Colors">{groups[groups.length - 1].names.map((n, i) => <li key={n}><span class="swatch" style={{ background: fillOf(i) }} /><bdi>{elide(n, 36)}</bdi></li>)}<li><span class="swatch" />{color === "thread" ? "several, or others" : "others"}</li></ul>
          : diff ? <span>{["|no decided change", "grew|" + more, `shrank|${less} (decided; the part filled is the net change)`, "new|only after", "gone|only before", ...(leads.length > 0 ? ["lead|△ ▽ a lead by self cost, not decided"] : [])].map((l, i) => {
          const [cls, text] = l.split("|");
          return [i > 0 ? " · " : "", cls === "lead" ? null : <span class={"swatch " + cls} />, text];
        })}</span> : <span>Widths are those of one side; changes are marked with both.</span>}
        {groups ? null : byShare ? <span>Nothing is filled: costs were tested, not shares of a side. --normalize total tests shares.</span>
          : up ? <span>Filled is the self cost of functions, the first row. What each caller has of it was not tested.</span>
          : both ? <span>Callers above, callees below, over all calls. Its total cost was tested, no parts of it. A click goes to another function.</span> : null}
      </div>
      <p class="dim" role="status">
        {found ? <span>{match.error ? <b class="error">{match.error}</b> : <span>{plural(found.reduce((n, x) => n + x.frames, 0), "frame")} match{up || both ? null : <span>: before {cost(e, found[0].before, 3)} ({share(found[0].before / tree.totalBase[0])}), after {cost(e, found[0].after, 3)} ({share(found[0].after / tree.totalHead[0])}), {delta(e, found[0].after - found[0].before, 3)}</span>}.</span>}</span> : null}
        {" " + leftOut(e)}
        {part ? <span> Only {part}, of which nothing was tested. <Button on={() => go(s, { span: "" })}>All of the time</Button></span> : null}
        {s.frame > 0 && foreign ? <b class="error"> The link is to a frame of another report ({s.report}); this one is {report}.</b> : null}
        {s.dir === "both" && !both ? <b class="error"> This event has no function {s.fn}.</b> : null}
      </p>
      {zoom > 0 ? <Path s={s} layout={layout} zoom={zoom} report={report} /> : null}
      {s.tree && !both ? <TreeTable key={s.dir} s={s} layout={layout} zoom={zoom} /> : (
        <div class={both ? "flame around" : "flame"} ref={root}>
          <div>
            {scenes.filter((x) => !x.flip || x.layout.tree.size > 1).map((x) => <Graph key={x.layout.kind} {...x} lowest={both ? 0 : 240} tallest={both ? 330 : 620} about={(i) => <span><bdi class="name"><b>{name(x.layout, i).slice(0, 600)}</b></bdi><br />{about(x.layout, i)}</span>}
              label={both ? `${x.flip ? "Callers" : "Callees"} of ${own!.name}` : `Flame graph of ${e.name}; the check box “as a table” shows the same as a table`}
              onSelect={(i) => select(x.layout, i)} onOpen={(i) => open(x.layout, i)} onKey={(k, i) => key(x.layout, k, i)} />)}
            <div class="selected" id="selected" aria-live="polite">
              <bdi class="name"><b>{name(at.layout, at.i)}</b></bdi>
              {functionAt(at.layout, at.i) ? <span><Button on={() => openCard(s, functionAt(at.layout, at.i))}>Function</Button>{both && at.i === 0 ? null : <Button on={() => go(s, bothOf(functionAt(at.layout, at.i)))}>Callers and callees</Button>}<Copy text={() => name(at.layout, at.i)} label="Copy name" /></span> : null}
              {zoom > 0 ? <Button on={() => zoomTo(0)}>Show all</Button> : null}
              <br />{about(at.layout, at.i)}
            </div>
          </div>
          {both ? null : <div>
            {leads.length > 0 ? <div><h3>Leads</h3><ul class="changes">{leads.map((f) => entry(f.id, f.name, () => openCard(s, f), <span>{f.self.lead} {delta(e, f.self.head - f.self.base, 3)}</span>))}</ul></div> : null}
            <h3>Largest decided changes in view</h3>
            {largest.length === 0 ? <None>{part ? "None: a part of the time was not tested." : e.single ? "None: one run a side decides nothing." : e.withheld ? "None: verdicts are withheld." : byShare ? "None: shares were not tested." : !diff ? "Shown with the width of both sides." : "None: no change in view is decided."}</None> : (
              <ul class="changes">{largest.slice(0, 10).map((i) => entry(i, name(layout, i), () => { setSelected({ layout, i }); focus(); }, <Marked v={layout.decided(i)}>{delta(e, layout.delta(i), 3)}</Marked>, i === at.i, tree.parent[i]))}</ul>
            )}
            {decided.length > 0 ? <p class="controls"><Button on={() => jump(-1)}>← previous</Button><Button on={() => jump(1)}>next →</Button><Dim>{plural(decided.length, "decided frame")}{largest.length < decided.length ? ", with callers that pass a change on" : ""}</Dim></p> : null}
            <p class="keys"><kbd>Enter</kbd> or a click zooms, <kbd>Esc</kbd> shows all, <kbd>?</kbd> all keys</p>
          </div>}
        </div>
      )}
    </div>
  );
}
