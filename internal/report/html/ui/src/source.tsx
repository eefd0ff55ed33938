// The source of a function on both sides, as a review shows it: what changed is marked, costs and
// misses stand in the gutters, and the instructions of a line below it.

import { Heat, Instructions } from "./code";
import type { EventData, Fn } from "./data";
import { Delta, FnLink, Fragment, Legend, Marked, None, Verdict, cost, count, delta, elide, go, h, linesOf, loadEvent, useBlock, useEffect, useMemo, useRef, useState, weight } from "./kit";
import type { State } from "./state";
import type { Branches, Line, LineColumns, Listing, ListingRow, Meta, SourceFunction, SourceRow, Sources } from "./types";

/** Below this width there is one column. */
const NARROW = "(max-width: 900px)";

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW), changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return narrow;
}

const base = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** Costs by the number of a line, on both sides. */
type Costs = { base: Map<number, number>; head: Map<number, number> };
const add = (m: Map<number, number>, line: number, v: number) => { if (line > 0 && v > 0) m.set(line, (m.get(line) ?? 0) + v); };

function costsOf(lines: Line[], f: SourceFunction): Costs {
  const c: Costs = { base: new Map(), head: new Map() };
  for (const l of lines) {
    if (f.BaseFile !== "" && l.file === base(f.BaseFile)) add(c.base, l.base, l.self.base);
    if (f.HeadFile !== "" && l.file === base(f.HeadFile)) add(c.head, l.head, l.self.head);
  }
  return c;
}

/** Misses of branches by line: of an event, else of the table of branches. */
type Misses = Costs & { what: string; write: (v: number) => string };

const MISSES = /branch[-_ ]?misses|br_mis/i;

function useMisses(meta: Meta, data: EventData, f?: SourceFunction): Misses | undefined {
  const index = meta.events.findIndex((e, i) => i !== data.index && MISSES.test(e.name));
  const columns = useBlock<LineColumns>(meta, "lines" + index);
  const branches = useBlock<Branches>(meta, "branches");
  const [event, setEvent] = useState<EventData>();
  useEffect(() => {
    let live = true;
    if (index >= 0) void loadEvent(meta, index).then((e) => live && setEvent(e));
    return () => { live = false; };
  }, [index]);
  return useMemo(() => {
    if (!f) return undefined;
    const fn = event?.find(f.Name, f.DSO);
    if (columns && event && fn) {
      const c = costsOf(linesOf(columns, fn.id), f);
      if (c.base.size + c.head.size > 0) return { ...c, what: event.meta.name, write: (v: number) => cost(event.meta, v, 3) };
    }
    const c: Costs = { base: new Map(), head: new Map() };
    for (const b of branches?.Rows ?? []) {
      if (b.Function !== f.Name) continue;
      if (b.File === base(f.BaseFile)) add(c.base, b.BaseLine ?? b.Line, b.Base?.Misses ?? 0);
      if (b.File === base(f.HeadFile)) add(c.head, b.Line, b.Head?.Misses ?? 0);
    }
    return c.base.size + c.head.size > 0 ? { ...c, what: "Branch misses", write: (v: number) => weight(v, "count", 3) } : undefined;
  }, [columns, event, branches, f]);
}

/** What of a listing is below a line of the function, by the line of a side: "b12" or "h12". */
type Below = { listing: Listing; rows: ListingRow[]; inlined: string[]; samples: [number, number] };

function codeBelow(listings: Listing[], f: SourceFunction, other: string): Map<string, Below[]> {
  const out = new Map<string, Below[]>();
  for (const listing of listings) {
    if (listing.DSO !== f.DSO) continue;
    const own = listing.Function === f.Name;
    for (const r of listing.Rows) {
      const calls = r.Inlined ?? [];
      // The level of the function among those around the instruction.
      const level = own ? calls.length : calls.findIndex((c) => c.Callee === f.Name || c.Callee === other);
      if (level < 0) continue;
      const place = level === 0 ? r : calls[level - 1], side = r.HeadOffset >= 0 ? "h" : "b";
      if (place.File !== base(side === "h" ? f.HeadFile : f.BaseFile)) continue;
      const key = side + place.Line;
      let list = out.get(key);
      if (!list) out.set(key, (list = []));
      let below = list.find((b) => b.listing === listing);
      if (!below) list.push((below = { listing, rows: [], inlined: [], samples: [0, 0] }));
      below.rows.push(r);
      if (level > 0) {
        const callee = calls[level - 1].Callee;
        if (!below.inlined.includes(callee)) below.inlined.push(callee);
        below.samples[0] += r.BaseSamples;
        below.samples[1] += r.HeadSamples;
      }
    }
  }
  return out;
}

/** A text, and what of it another does not have. */
function Text({ text, other }: { text: string; other?: string }) {
  if (!other) return <code>{text}</code>;
  let from = 0, to = 0;
  while (from < text.length && from < other.length && text[from] === other[from]) from++;
  while (to < text.length - from && to < other.length - from && text[text.length - 1 - to] === other[other.length - 1 - to]) to++;
  const end = text.length - to;
  // If little is alike, all of it is marked by the row already.
  if (end === from || end - from > 0.8 * text.trim().length) return <code>{text}</code>;
  return <code>{text.slice(0, from)}<mark>{text.slice(from, end)}</mark>{text.slice(end)}</code>;
}

/** A row as it is drawn: a gap, a row of both sides, or in one column a row of one. */
type Drawn = { key: string; gap?: [number, number]; r?: SourceRow; only?: "b" | "h" };

function drawn(rows: SourceRow[], narrow: boolean): Drawn[] {
  const out: Drawn[] = [];
  const last = [0, 0];
  let removed: Drawn[] = [], added: Drawn[] = [];
  const flush = () => { out.push(...removed, ...added); removed = []; added = []; };
  for (const r of rows) {
    const gap: [number, number] = [last[0] > 0 && r.Base > 0 ? r.Base - last[0] - 1 : 0, last[1] > 0 && r.Head > 0 ? r.Head - last[1] - 1 : 0];
    if (gap[0] > 0 || gap[1] > 0) {
      flush();
      out.push({ key: "g" + r.Base + "-" + r.Head, gap });
    }
    if (r.Base > 0) last[0] = r.Base;
    if (r.Head > 0) last[1] = r.Head;
    const key = r.Base + "-" + r.Head;
    if (!narrow || (r.Base > 0 && r.Head > 0 && !r.Was)) {
      flush();
      out.push({ key, r });
      continue;
    }
    if (r.Base > 0) removed.push({ key: "b" + key, r, only: "b" });
    if (r.Head > 0) added.push({ key: "h" + key, r, only: "h" });
  }
  flush();
  return out;
}

export function SourceView({ s, data, meta }: { s: State; data: EventData; meta: Meta }) {
  const block = useBlock<Sources>(meta, "sources");
  if (!block) return <None>Reading…</None>;
  const list = block.Functions ?? [];
  const chosen = list.find((f) => f.Name === s.fn && f.DSO === s.dso) ?? list.find((f) => f.Name === s.fn) ?? (s.fn === "" ? list[0] : undefined);
  const choose = (i: number) => { const f = list[i]; if (f) go(s, { view: "source", fn: f.Name, dso: f.DSO, line: "" }); };
  const at = chosen ? list.indexOf(chosen) : -1;
  const label = (f: SourceFunction) => {
    const c = data.find(f.Name, f.DSO)?.self;
    return elide(f.Name, 60) + (c ? "  " + cost(data.meta, c.base, 3) + " → " + cost(data.meta, c.head, 3) : "");
  };
  return (
    <div class="sources">
      <div class="controls">
        <label>Function <select value={String(at)} onChange={(e: Event) => choose(Number((e.target as HTMLSelectElement).value))}>
          {at < 0 ? <option value="-1">choose one</option> : null}
          {list.map((f, i) => <option key={i} value={String(i)}>{label(f)}</option>)}
        </select></label>
        <span><button type="button" class="button" disabled={at <= 0} onClick={() => choose(at - 1)}>‹<span class="vh"> Previous function</span></button> <button type="button" class="button" disabled={at + 1 >= list.length} onClick={() => choose(at + 1)}>›<span class="vh"> Next function</span></button></span>
      </div>
      {chosen ? <Beside key={chosen.Name + "\0" + chosen.DSO} s={s} data={data} meta={meta} block={block} f={chosen} />
        : <None>{s.fn ? <span>There is no text of <bdi class="name">{s.fn}</bdi>.</span> : "There is no text of functions that cost something."}</None>}
      <ul class="legend notes">{(block.Notes ?? []).map((n, i) => <li key={i}>{n}</li>)}</ul>
    </div>
  );
}

function Beside({ s, data, meta, block, f }: { s: State; data: EventData; meta: Meta; block: Sources; f: SourceFunction }) {
  const e = data.meta, narrow = useNarrow();
  const columns = useBlock<LineColumns>(meta, "lines" + data.index);
  const listings = useBlock<Listing[]>(meta, "listings");
  const misses = useMisses(meta, data, f);
  const fn: Fn | undefined = data.find(f.Name, f.DSO);
  const lines = useMemo(() => (columns && fn ? linesOf(columns, fn.id) : []), [columns, fn]);
  const costs = useMemo(() => costsOf(lines, f), [lines, f]);
  const below = useMemo(() => codeBelow(listings ?? [], f, fn?.baseName || f.Name), [listings, f]);
  const [open, setOpen] = useState<Set<string>>(new Set());
  const rows = useMemo(() => drawn(f.Rows ?? [], narrow), [f, narrow]);
  const table = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const row = s.line && table.current?.querySelector<HTMLElement>(`[data-${s.line[0] === "b" ? "base" : "head"}="${Number(s.line.slice(1))}"]`);
    if (row) row.scrollIntoView({ block: "center" });
  }, [s.line, rows, columns]);
  const two = !narrow && f.BaseFile !== "" && f.HeadFile !== "";
  const peak = Math.max(1e-9, ...costs.base.values(), ...costs.head.values());
  const missPeak = misses ? Math.max(1e-9, ...misses.base.values(), ...misses.head.values()) : 1;
  // A line has a verdict where both sides are the same line to the diff, too.
  const verdicts = new Map(lines.map((l) => [l.base + "-" + l.head, l.self]));
  const rest = (side: "base" | "head") => (fn ? fn.self[side] - [...costs[side].values()].reduce((a, b) => a + b, 0) : 0);
  const elsewhere = [f.BaseFile ? rest("base") : 0, f.HeadFile ? rest("head") : 0];

  const codeOf = (r: SourceRow, only?: "b" | "h") => [...(r.Head > 0 && only !== "b" ? below.get("h" + r.Head) ?? [] : []), ...(r.Base > 0 && only !== "h" ? below.get("b" + r.Base) ?? [] : [])];
  const toggle = (key: string) => setOpen((o) => { const n = new Set(o); if (!n.delete(key)) n.add(key); return n; });
  const all = rows.filter((d) => d.r && codeOf(d.r, d.only).length > 0).map((d) => d.key);

  const gutter = (side: "base" | "head", line: number) => {
    const v = costs[side].get(line) ?? 0, m = misses?.[side].get(line) ?? 0;
    return [
      <td class="n gutter">{v > 0 ? cost(e, v, 3) : ""}<Heat of={v / peak} room={28} /></td>,
      misses ? <td class="n gutter miss">{m > 0 ? misses.write(m) : ""}<Heat of={m / missPeak} room={16} /></td> : null,
    ];
  };
  const button = (key: string, code: Below[]) => {
    const n = code.reduce((sum, b) => sum + b.rows.length, 0);
    return n > 0 ? <button type="button" class="fold" aria-expanded={open.has(key)} title={`${count(n)} instructions`} onClick={() => toggle(key)}>{open.has(key) ? "▾" : "▸"}<span class="vh"> {count(n)} instructions</span></button> : null;
  };
  const inlined = (code: Below[]) => {
    const names = [...new Set(code.flatMap((b) => b.inlined))];
    if (names.length === 0) return null;
    const [b, a] = code.reduce(([x, y], c) => [x + c.samples[0], y + c.samples[1]], [0, 0]);
    return <span class="inlined"> ⤷ {names.slice(0, 3).map((n, i) => { const to = data.find(n, f.DSO); return <Fragment key={n}>{i > 0 ? ", " : ""}{to ? <FnLink s={s} f={to} room={40} /> : <bdi>{elide(n, 40)}</bdi>}</Fragment>; })}{names.length > 3 ? ` and ${names.length - 3} more` : ""} inlined{b + a > 0 ? `: ${count(b)} → ${count(a)} samples` : ""}</span>;
  };
  const width = narrow ? 3 + (misses ? 1 : 0) : (two ? 2 : 1) * (3 + (misses ? 1 : 0));
  const place = (r: ListingRow) => (r.Inlined ? <bdi>⤷ {elide(r.Inlined[0].Callee, 50)} {r.File}:{r.Line}{r.Source ? <code class="line">  {r.Source}</code> : null}</bdi> : null);

  const cells = (side: "base" | "head", r: SourceRow, key: string, code: Below[], first: boolean) => {
    const line = side === "base" ? r.Base : r.Head, twin = side === "base" ? r.Head : r.Base;
    if (line === 0) return <td class="void" colSpan={misses ? 4 : 3} />;
    const text = side === "base" && r.Was ? r.Was : r.Text, changed = twin === 0 || !!r.Was;
    const mark = changed && f.BaseFile !== "" && f.HeadFile !== "" ? (side === "base" ? "was" : "is") : "";
    const v = side === "head" && !changed ? verdicts.get(r.Base + "-" + r.Head) : undefined;
    return [
      ...gutter(side, line), <td class="n no">{first ? button(key, code) : null}{mark ? (mark === "is" ? "+" : "−") : ""}{line}</td>,
      <td class={"text " + mark}><bdi><Text text={text} other={r.Was && twin > 0 ? (side === "base" ? r.Text : r.Was) : undefined} /></bdi>{v && (v.verdict === "regressed" || v.verdict === "improved") ? <span class="inlined"> <Marked v={v.verdict}>{delta(e, v.head - v.base, 3)}</Marked></span> : null}{first ? inlined(code) : null}</td>,
    ];
  };
  const heads = (side: string, path: string) => [<th scope="col" class="n cost">{side}</th>, misses ? <th scope="col" class="n cost">Misses</th> : null, <th scope="col" class="n no">Line</th>, <th scope="col"><bdi class="name">{path}</bdi></th>];
  const name = (d: Drawn) => ({ "data-base": d.only === "h" ? undefined : d.r!.Base || undefined, "data-head": d.only === "b" ? undefined : d.r!.Head || undefined, "aria-current": s.line && (s.line === "h" + d.r!.Head || s.line === "b" + d.r!.Base) ? ("true" as const) : undefined });

  const body = rows.map((d) => {
    if (d.gap) return <tr key={d.key} class="gap"><td colSpan={width}>⋯ {d.gap[0] > 0 && d.gap[1] > 0 && d.gap[0] !== d.gap[1] ? `${count(d.gap[0])} and ${count(d.gap[1])}` : count(Math.max(...d.gap))} lines without cost{d.gap[0] === d.gap[1] ? "" : " of note"}</td></tr>;
    const r = d.r!, code = codeOf(r, d.only), was = d.only === "b", hot = Math.max(was ? 0 : costs.head.get(r.Head) ?? 0, d.only === "h" ? 0 : costs.base.get(r.Base) ?? 0) > 0.3 * peak;
    const both = !d.only && r.Base > 0 && r.Head > 0;
    const first = !narrow && two ? (r.Head > 0 ? "head" : "base") : "";
    return (
      <Fragment key={d.key}>
        <tr {...name(d)} class={hot ? "hot" : ""}>
          {two ? [cells("base", r, d.key, code, first === "base"), cells("head", r, d.key, code, first === "head")]
            : narrow && both && f.BaseFile && f.HeadFile ? (
              [<td class="n gutter">{[costs.base.get(r.Base), costs.head.get(r.Head)].some(Boolean) ? <span>{cost(e, costs.base.get(r.Base) ?? 0, 2)}<br />{cost(e, costs.head.get(r.Head) ?? 0, 2)}</span> : null}</td>,
                misses ? <td class="n gutter miss">{[misses.base.get(r.Base), misses.head.get(r.Head)].some(Boolean) ? <span>{misses.write(misses.base.get(r.Base) ?? 0)}<br />{misses.write(misses.head.get(r.Head) ?? 0)}</span> : null}</td> : null,
                <td class="n no">{button(d.key, code)}{r.Head}</td>, <td class="text"><bdi><code>{r.Text}</code></bdi>{inlined(code)}</td>])
            : cells(was || (!d.only && r.Head === 0) ? "base" : "head", r, d.key, code, true)}
        </tr>
        {open.has(d.key) ? <tr class="asm"><td colSpan={width}>{code.map((b, i) => <div key={i}>{b.listing.Function !== f.Name ? <Legend>inlined into <bdi class="name">{b.listing.Function}</bdi></Legend> : null}<Instructions listing={b.listing} rows={b.rows} label={`Instructions of line ${d.key} in ${b.listing.Function}`} place={place} /></div>)}</td></tr> : null}
      </Fragment>
    );
  });
  return (
    <article aria-label={"Source of " + f.Name}>
      <p class="about">{fn ? <FnLink s={s} f={fn} room={90} /> : <bdi class="name">{f.Name}</bdi>}{fn ? <span> · self <b>{cost(e, fn.self.base)} → {cost(e, fn.self.head)}</b> · <Delta e={e} c={fn.self} />{fn.self.verdict && !e.withheld ? <span> · <Verdict e={e} c={fn.self} /></span> : null}</span> : null}
        {all.length > 0 ? <span> · <button type="button" class="button" aria-pressed={open.size >= all.length} onClick={() => setOpen(open.size >= all.length ? new Set() : new Set(all))}>All instructions</button></span> : null}</p>
      {f.Withheld ? <p class="warn">Text is withheld: {f.Withheld}.</p> : null}
      {f.BaseFile === "" || f.HeadFile === "" ? <Legend>{f.BaseFile === "" ? "Only after" : "Only before"}: {f.Withheld ? "the text of the other side is withheld" : "the other side has no lines with cost in this function, or its text is not there"}.</Legend> : null}
      <div class="beside" ref={table}>
        <table class={two ? "both" : "one"}>
          <thead><tr>{two ? [heads("Before", f.BaseFile), heads("After", f.HeadFile)] : heads(narrow && f.BaseFile && f.HeadFile ? "Cost" : f.BaseFile ? "Before" : "After", f.BaseFile && f.HeadFile && f.BaseFile !== f.HeadFile ? f.BaseFile + " → " + f.HeadFile : f.HeadFile || f.BaseFile)}</tr></thead>
          <tbody>{body}</tbody>
        </table>
      </div>
      <Legend>
        {block.Base && f.BaseFile ? <span>Before: <bdi>{block.Base}</bdi>. </span> : null}{block.Head && f.HeadFile ? <span>After: <bdi>{block.Head}</bdi>. </span> : null}
        Gutters have the self cost of lines{narrow ? ", before above after" : ""}, {e.name}{misses ? " and " + misses.what.toLowerCase() : ""}.
        {elsewhere.some((v) => fn && v > 0.005 * Math.max(fn.self.base, fn.self.head)) ? ` Elsewhere, as in lines of little cost or of other files: ${cost(e, Math.max(0, elsewhere[0]), 3)} → ${cost(e, Math.max(0, elsewhere[1]), 3)}.` : ""}
        {all.length > 0 ? " ▸ opens the instructions of a line." : ""}
      </Legend>
    </article>
  );
}
