// The card of a function.

import { h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Code } from "./code";
import { type EventData, type Fn, type Tree, block, fill, untested } from "./data";
import { cost, pValue, plural, samples, shares, wholeOf } from "./format";
import { elide } from "./names";
import { note } from "./functions";
import { Layout } from "./layout";
import { CHANGE, COSTS, Change_, Copy, Delta, Dim, Facts, FnLink, Legend, Name, None, Strip, Verdict, Wide, changeCells, costCells, reachOf } from "./parts";
import { type State, format, frameOf } from "./state";
import type { Branches, Line, LineColumns, Listing, Meta, Sources } from "./types";

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

export function Card({ s, data, meta, code }: { s: State; data: EventData; meta: Meta; code?: typeof Code }) {
  const f = data.find(s.fn, s.dso);
  const lines = useBlock<LineColumns>(meta, "lines" + data.index);
  const listings = useBlock<Listing[]>(meta, "listings");
  const branches = useBlock<Branches>(meta, "branches");
  const sources = useBlock<Sources>(meta, "sources");
  const near = useMemo(() => (f ? around(data.tree, f.id) : undefined), [data, f]);
  const layout = useMemo(() => new Layout(data, "diff", "absolute", "down"), [data]);
  if (!f || !near) return <None>This report has no function <bdi class="name">{s.fn}</bdi>{meta.events.length > 1 ? " with samples of " + data.meta.name : ""}.</None>;
  const e = data.meta, paired = f.match !== "added" && f.match !== "removed";
  const own = lines ? linesOf(lines, f.id) : [];
  const listing = (listings ?? []).find((l) => l.Function === f.name && l.DSO === f.dso);
  const text = sources?.Functions?.some((t) => t.Name === f.name && t.DSO === f.dso) ?? false;
  const branch = (branches?.Rows ?? []).filter((b) => b.Function === f.name || b.Function === f.baseName);
  const shift = f.shift >= 0 ? data.block.shifts[f.shift] : undefined;
  const strip = (title: string, c: Fn["self"]) => (
    <div>
      <h3>{title}</h3>
      <Facts list={[
        ["cost", <span><b>{cost(e, c.base)} → {cost(e, c.head)}</b> <Dim>({shares(c, wholeOf(e))} of the total)</Dim></span>],
        ["change", <span><Delta e={e} c={c} /> · <Change_ c={c} /></span>],
        ["verdict", <span><Verdict e={e} c={c} />{!c.verdict ? <Dim>: below the share that is tested</Dim> : e.withheld || e.single ? null : <Dim> (adjusted p {pValue(c.adjusted_p)})</Dim>}</span>],
        ["samples", c.base_samples + c.head_samples > 0 ? samples(c) : ""],
      ]} />
      <Strip e={e} c={c} />
    </div>
  );
  return (
    <article aria-labelledby="fn">
      <h2 id="fn" class="title"><bdi>{f.name}</bdi> <Copy text={() => f.name} /></h2>
      {f.why.length > 0 ? <p>{f.why.map((w, i) => {
        const [view, line] = w.view.split("&line=");
        return view ? <a key={i} class="chip" href={format({ ...s, view, line: line ?? "", q: view === "branches" ? f.name : s.q })}>{w.text}</a> : <span key={i} class="chip">{w.text}</span>;
      })}</p> : null}
      {e.withheld ? <p class="warn">Verdicts are withheld: {e.withheld}.</p> : null}
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
      {own.length > 0 ? <Lines s={s} e={data} list={own} text={text} /> : null}
      {listing && code ? h(code, { listing }) : null}
      {branch.length > 0 ? <p><a href={format({ ...s, view: "branches", q: f.name })}>{plural(branch.length, "branch", "branches")} of this function</a></p> : null}
    </article>
  );
}

/** The lines of a function. */
export function linesOf(c: LineColumns, fn: number): Line[] {
  const all = c.function.map((_, i): Line => ({ file: c.texts[c.file[i]], base: c.base[i], head: c.head[i], text: c.texts[c.text[i]], self: untested(c.selfBase[i], c.selfHead[i], 0, 0) }));
  fill(c.self, (i) => all[i].self);
  return all.filter((_, i) => c.function[i] === fn);
}

function Lines({ s, e, list, text }: { s: State; e: EventData; list: Line[]; text: boolean }) {
  const reach = reachOf(list.map((l) => l.self));
  const place = (l: Line) => (l.head === 0 ? `${l.file}:${l.base} (gone)` : l.base === 0 || l.base === l.head ? `${l.file}:${l.head}` : `${l.file}:${l.head} (was ${l.base})`);
  return (
    <div>
      <h3>Hottest source lines</h3>
      <Wide labels={"Line" + CHANGE}>
        {list.map((l, i) => <tr key={i}><Name>{text ? <a href={format({ ...s, view: "source", line: l.head > 0 ? "h" + l.head : "b" + l.base })}><bdi>{place(l)}</bdi></a> : <bdi>{place(l)}</bdi>}{l.text ? <code class="dim"> {l.text.trim()}</code> : null}</Name>{changeCells(e.meta, l.self, reach)}</tr>)}
      </Wide>
      {text ? <p><a href={format({ ...s, view: "source", line: "" })}>Source of both sides</a></p> : null}
      <Legend>Lines are counted from the start of the function where it is known, so that code inserted above does not move them.</Legend>
    </div>
  );
}
