// The card of a function.

import { h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type EventData, type Fn, type Tree, block, fill, untested } from "./data";
import { cost, count, pValue, plural, samples, shares, wholeOf } from "./format";
import { elide } from "./names";
import { note } from "./functions";
import { Layout } from "./layout";
import { CHANGE, COSTS, Change_, Copy, Delta, Dim, Facts, FnLink, Legend, Name, None, Strip, Verdict, Wide, changeCells, costCells, heads, reachOf } from "./parts";
import { type State, format, frameOf } from "./state";
import type { Branches, Line, LineColumns, Listing, ListingRow, Meta } from "./types";

const MATCH: Record<string, string> = {
  exact: "same name in the same module", normalized: "same name but for what compilers add", renamed: "renamed", split: "one function became several", merged: "several functions became one", moved: "same name in another module",
  added: "after only: no counterpart before", removed: "before only: no counterpart after",
};

type Neighbor = { fn: number; base: number; head: number };

/** Callers, callees and the widest paths. Of a recursive function the outermost call counts. */
export function around(t: Tree, fn: number) {
  const callers = new Map<number, Neighbor>(), callees = new Map<number, Neighbor>(), at: number[] = [];
  const add = (m: Map<number, Neighbor>, key: number, b: number, a: number) => {
    const n = m.get(key);
    if (n) { n.base += b; n.head += a; } else m.set(key, { fn: key, base: b, head: a });
  };
  for (let i = 1; i < t.size; ) {
    if (t.fn[i] !== fn) { i++; continue; }
    at.push(i);
    add(callers, t.fn[t.parent[i]], t.totalBase[i], t.totalHead[i]);
    // What other functions cost that are called from any depth of recursion.
    for (let k = i; k < t.end[i]; k++) {
      if (t.fn[k] !== fn) continue;
      for (let c = k + 1; c < t.end[k]; c = t.end[c]) if (t.fn[c] !== fn) add(callees, t.fn[c] < 0 ? -2 : t.fn[c], t.totalBase[c], t.totalHead[c]);
    }
    i = t.end[i];
  }
  const order = (m: Map<number, Neighbor>) => [...m.values()].sort((a, b) => Math.abs(b.head - b.base) - Math.abs(a.head - a.base) || a.fn - b.fn);
  const width = (i: number) => t.totalBase[i] + t.totalHead[i];
  return { callers: order(callers), callees: order(callees), paths: at.sort((a, b) => width(b) - width(a)).slice(0, 6), all: at.length };
}

function Neighbors({ s, data, title, list, none }: { s: State; data: EventData; title: string; list: Neighbor[]; none: string }) {
  return (
    <div>
      <h3>{title}</h3>
      {list.length === 0 ? <None>{none}</None> : (
        <Wide labels={"Function" + COSTS} more={list.length > 12 ? <Legend>{list.length - 12} more</Legend> : null}>
          {list.slice(0, 12).map((n) => {
            const f = data.functions[n.fn];
            return <tr key={n.fn}><Name>{f ? <FnLink s={s} f={f} room={52} /> : n.fn === -1 ? "[outermost]" : "(smaller frames)"}</Name>{costCells(data.meta, n.base, n.head)}</tr>;
          })}
        </Wide>
      )}
    </div>
  );
}

/** A block that is inflated when it is first looked at. */
export function useBlock<T>(meta: Meta, name: string): T | undefined {
  const [value, setValue] = useState<{ name: string; v: T }>();
  useEffect(() => {
    let live = true;
    if (meta.blocks.includes(name)) void block<T>(name).then((v) => live && setValue({ name, v }));
    return () => { live = false; };
  }, [name]);
  return value?.name === name ? value.v : undefined;
}

export function Card({ s, data, meta }: { s: State; data: EventData; meta: Meta }) {
  const f = data.find(s.fn, s.dso);
  const lines = useBlock<LineColumns>(meta, "lines" + data.index);
  const listings = useBlock<Listing[]>(meta, "listings");
  const branches = useBlock<Branches>(meta, "branches");
  const near = useMemo(() => (f ? around(data.tree, f.id) : undefined), [data, f]);
  const layout = useMemo(() => new Layout(data, "diff", "absolute", "down"), [data]);
  if (!f || !near) return <None>This report has no function <bdi class="name">{s.fn}</bdi>{meta.events.length > 1 ? " with samples of " + data.meta.name : ""}.</None>;
  const e = data.meta, paired = f.match !== "added" && f.match !== "removed";
  const own = lines ? linesOf(lines, f.id) : [];
  const listing = (listings ?? []).find((l) => l.Function === f.name && l.DSO === f.dso);
  const branch = (branches?.Rows ?? []).filter((b) => b.Function === f.name || b.Function === f.baseName);
  const shift = f.shift >= 0 ? data.block.shifts[f.shift] : undefined;
  const strip = (title: string, c: Fn["self"]) => (
    <div>
      <h3>{title}</h3>
      <Facts list={[
        ["cost", <span><b>{cost(e, c.base)} → {cost(e, c.head)}</b> <Dim>({shares(c, wholeOf(e))} of the total)</Dim></span>],
        ["change", <span><Delta e={e} c={c} /> · <Change_ c={c} /></span>],
        ["verdict", <span><Verdict e={e} c={c} />{c.verdict ? <Dim> (adjusted p {pValue(c.adjusted_p)})</Dim> : <Dim>: below the share that is tested</Dim>}</span>],
        ["samples", c.base_samples + c.head_samples > 0 ? samples(c) : ""],
      ]} />
      <Strip e={e} c={c} />
    </div>
  );
  return (
    <article aria-labelledby="fn">
      <h2 id="fn" class="title"><bdi>{f.name}</bdi> <Copy text={() => f.name} /></h2>
      <Facts list={[
        ["module", <bdi>{f.dso || "unknown"}</bdi>],
        ["matched", <span>{MATCH[f.match] ?? f.match}{paired && note(f) ? <span>: <bdi>{note(f)}</bdi></span> : null}{paired && f.match !== "exact" ? `, confidence ${f.confidence.toFixed(2)}` : ""}{f.reason ? <Dim> ({f.reason})</Dim> : null}</span>],
        ["moved", shift ? <span>one of {shift.parts.length} functions between which cost moved under <bdi class="name">{data.label(shift.caller)}</bdi>; together <Delta e={e} c={shift.net} />, <Verdict e={e} c={shift.net} /></span> : ""],
      ]} />
      <div class="two">{strip("Self", f.self)}{strip("Total, with what it calls", f.total)}</div>
      <div class="two">
        <Neighbors s={s} data={data} title="Callers" list={near.callers} none="No callers are known." />
        <Neighbors s={s} data={data} title="Callees" list={near.callees} none="It calls nothing that was sampled." />
      </div>
      <Legend>Of a recursive function the outermost call counts. Single calls are not tested.</Legend>
      <h3>Widest paths{near.all > near.paths.length ? `, ${near.paths.length} of ${near.all}` : ""}</h3>
      <Wide labels={"Path" + COSTS + "|Test"}>
        {near.paths.map((i) => {
          const t = data.tree, path: number[] = [];
          for (let k = i; k > 0; k = t.parent[k]) path.push(k);
          const names = path.slice(0, 7).reverse().map((k) => elide(data.label(t.fn[k]), 34));
          return <tr key={i}><Name><a href={format({ ...s, ...frameOf(i, meta.id) })}><bdi>{(path.length > 7 ? `… ${path.length - 7} more › ` : "") + names.join(" › ")}</bdi></a></Name>
            {costCells(e, t.totalBase[i], t.totalHead[i])}<td class={layout.decided(i) || "dim"}>{layout.said(i)}</td></tr>;
        })}
      </Wide>
      {own.length > 0 ? <Lines e={data} list={own} /> : null}
      {listing ? <Code listing={listing} /> : null}
      {branch.length > 0 ? <p><a href={format({ ...s, view: "branches", q: f.name })}>{plural(branch.length, "branch", "branches")} of this function</a></p> : null}
    </article>
  );
}

function linesOf(c: LineColumns, fn: number): Line[] {
  const all = c.function.map((_, i): Line => ({ file: c.texts[c.file[i]], base: c.base[i], head: c.head[i], text: c.texts[c.text[i]], self: untested(c.selfBase[i], c.selfHead[i], 0, 0) }));
  fill(c.self, (i) => all[i].self);
  return all.filter((_, i) => c.function[i] === fn);
}

function Lines({ e, list }: { e: EventData; list: Line[] }) {
  const reach = reachOf(list.map((l) => l.self));
  const place = (l: Line) => (l.head === 0 ? `${l.file}:${l.base} (gone)` : l.base === 0 || l.base === l.head ? `${l.file}:${l.head}` : `${l.file}:${l.head} (was ${l.base})`);
  return (
    <div>
      <h3>Hottest source lines</h3>
      <Wide labels={"Line" + CHANGE}>
        {list.map((l, i) => <tr key={i}><Name><bdi>{place(l)}</bdi>{l.text ? <code class="dim"> {l.text.trim()}</code> : null}</Name>{changeCells(e.meta, l.self, reach)}</tr>)}
      </Wide>
      <Legend>Lines are counted from the start of the function where it is known, so that code inserted above does not move them.</Legend>
    </div>
  );
}

function Code({ listing }: { listing: Listing }) {
  const B = listing.BaseSamples || 1, H = listing.HeadSamples || 1;
  const most = (r: ListingRow) => Math.max(r.BaseSamples / B, r.HeadSamples / H);
  const peak = listing.Rows.reduce((m, r) => Math.max(m, most(r)), 0) || 1;
  const cell = (n: number, all: number) => <td class="n">{n > 0 ? <span>{count(n)} <Dim>{((100 * n) / all).toFixed(1)}%</Dim></span> : ""}<span class="heat" style={heat(n > 0 ? Math.max(1, (46 * n) / all / peak) : 0)} /></td>;
  const heat = (w: number) => ({ width: w + "px", marginRight: 46 - w + "px" });
  const at = (n: number) => (n < 0 ? "" : "+" + n.toString(16));
  let last = "";
  const rows: preact.VNode[] = [];
  listing.Rows.forEach((r, i) => {
    const where = r.File ? r.File + ":" + r.Line : "";
    if (where !== "" && where !== last) {
      rows.push(<tr key={"s" + i} class="src"><td /><td /><td class="ins" colSpan={3}><bdi>{where}{r.Source ? "  " + r.Source : ""}</bdi></td></tr>);
      last = where;
    }
    const side = r.BaseOffset < 0 ? "new" : r.HeadOffset < 0 ? "gone" : "";
    rows.push(
      <tr key={i} class={side + (most(r) > 0.05 ? " hot" : "")}>
        <td class="n dim">{at(r.BaseOffset)}</td><td class="n dim">{at(r.HeadOffset)}</td>
        <td class="ins"><bdi>{side === "gone" ? "− " : side === "new" ? "+ " : "  "}{r.HeadText || r.BaseText}</bdi>{r.BaseText && r.HeadText && r.BaseText !== r.HeadText ? <Dim>  was {r.BaseText}</Dim> : null}</td>
        {cell(r.BaseSamples, B)}{cell(r.HeadSamples, H)}
      </tr>,
    );
  });
  return (
    <div>
      <h3>Instructions of {listing.Event}</h3>
      <Legend>Aligned by what the instructions are, not by their addresses: + is after only, − before only. Samples, and their part of the function’s. {listing.Note}</Legend>
      <div class="scroll" tabIndex={0} role="region" aria-label="Instructions"><table class="code">{heads(">Before|>After|Instruction|>Samples before|>Samples after")}<tbody>{rows}</tbody></table></div>
    </div>
  );
}

