// The card of a function.

import { h } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type EventData, type Fn, GREW, SHRANK, type Tree, block, fill, untested } from "./data";
import { cost, count, delta, pValue, relative, share, shorter } from "./format";
import { note } from "./functions";
import { Bar, Change_, Copy, Delta, Facts, Strip, Verdict, changeCells, heads, reachOf } from "./parts";
import { type State, format } from "./state";
import type { Branches, Line, LineColumns, Listing, Meta } from "./types";

const MATCH: Record<string, string> = {
  exact: "same name in the same module", normalized: "same name but for what compilers add", renamed: "renamed", moved: "same name in another module",
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
  const e = data.meta;
  return (
    <div>
      <h3>{title}</h3>
      {list.length === 0 ? <p class="none">{none}</p> : (
        <div class="wide"><table>{heads("Function|>Before|>After|>Δ|>%")}<tbody>
          {list.slice(0, 12).map((n) => {
            const f = data.functions[n.fn];
            return <tr key={n.fn}><th scope="row" class="name">{f ? <a href={format({ ...s, view: "function", fn: f.name, dso: f.dso })} title={f.name}><bdi>{shorter(f.name, 52)}</bdi></a> : n.fn === -1 ? "[outermost]" : "(smaller frames)"}</th>
              <td class="n">{cost(e, n.base, 3)}</td><td class="n">{cost(e, n.head, 3)}</td><td class="n">{delta(e, n.head - n.base, 3)}</td><td class="n dim">{relative({ base: n.base, head: n.head, ratio: null })}</td></tr>;
          })}
        </tbody></table>{list.length > 12 ? <p class="legend">{list.length - 12} more</p> : null}</div>
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
  if (!f || !near) return <p class="none">This report has no function <bdi class="name">{s.fn}</bdi>{meta.events.length > 1 ? " with samples of " + data.meta.name : ""}.</p>;
  const e = data.meta;
  const own = lines ? linesOf(lines, f.id) : [];
  const listing = (listings ?? []).find((l) => l.Function === f.name && l.DSO === f.dso);
  const branch = (branches?.Rows ?? []).filter((b) => b.Function === f.name || b.Function === f.baseName);
  const shift = f.shift >= 0 ? data.block.shifts[f.shift] : undefined;
  const strip = (title: string, c: Fn["self"]) => (
    <div>
      <h3>{title}</h3>
      <Facts list={[
        ["cost", <span><b>{cost(e, c.base)} → {cost(e, c.head)}</b> <span class="dim">({share(c.base / (e.share ? 1 : e.total.base))} → {share(c.head / (e.share ? 1 : e.total.head))} of the total)</span></span>],
        ["change", <span><Delta e={e} c={c} /> · <Change_ c={c} /></span>],
        ["verdict", <span><Verdict c={c} />{c.verdict ? <span class="dim"> (adjusted p {pValue(c.adjusted_p)})</span> : <span class="dim">: below the share that is tested</span>}</span>],
        ["samples", c.base_samples + c.head_samples > 0 ? `${count(c.base_samples)} → ${count(c.head_samples)}` : ""],
      ]} />
      <Strip e={e} c={c} />
    </div>
  );
  return (
    <article aria-labelledby="fn">
      <h2 id="fn" class="title"><bdi>{f.name}</bdi> <Copy text={() => f.name} /></h2>
      <Facts list={[
        ["module", <bdi>{f.dso || "unknown"}</bdi>],
        ["matched", <span>{MATCH[f.match] ?? f.match}{note(f) && f.match !== "added" && f.match !== "removed" ? <span>: <bdi>{note(f)}</bdi></span> : null}{f.match !== "exact" && f.match !== "added" && f.match !== "removed" ? `, confidence ${f.confidence.toFixed(2)}` : ""}{f.reason ? <span class="dim"> ({f.reason})</span> : null}</span>],
        ["moved", shift ? <span>one of {shift.parts.length} functions between which cost moved under <bdi class="name">{data.label(shift.caller)}</bdi>; together <Delta e={e} c={shift.net} />, <Verdict c={shift.net} /></span> : ""],
      ]} />
      <div class="two">{strip("Self", f.self)}{strip("Total, with what it calls", f.total)}</div>
      <div class="two">
        <Neighbors s={s} data={data} title="Callers" list={near.callers} none="No callers are known." />
        <Neighbors s={s} data={data} title="Callees" list={near.callees} none="It calls nothing that was sampled." />
      </div>
      <p class="legend">Of a recursive function the outermost call counts. Single calls are not tested.</p>
      <h3>Widest paths{near.all > near.paths.length ? `, ${near.paths.length} of ${near.all}` : ""}</h3>
      <div class="wide"><table>{heads("Path|>Before|>After|>Δ")}<tbody>
        {near.paths.map((i) => {
          const t = data.tree, path: number[] = [];
          for (let k = i; k > 0; k = t.parent[k]) path.push(k);
          const names = path.slice(0, 7).reverse().map((k) => shorter(data.label(t.fn[k]), 34));
          const mark = t.flags[i] & GREW ? "regressed" : t.flags[i] & SHRANK ? "improved" : "";
          return <tr key={i}><th scope="row" class="name"><a href={format({ ...s, view: "flame", frame: i, report: meta.id, dir: "down", tree: false })}><bdi>{(path.length > 7 ? `… ${path.length - 7} more › ` : "") + names.join(" › ")}</bdi></a></th>
            <td class="n">{cost(e, t.totalBase[i], 3)}</td><td class="n">{cost(e, t.totalHead[i], 3)}</td><td class={"n " + mark}>{mark ? <span class="mark" aria-hidden="true">{mark === "regressed" ? "▲ " : "▼ "}</span> : null}{delta(e, t.totalHead[i] - t.totalBase[i], 3)}</td></tr>;
        })}
      </tbody></table></div>
      {own.length > 0 ? <Lines e={data} list={own} /> : null}
      {listing ? <Code listing={listing} /> : null}
      {branch.length > 0 ? <p><a href={format({ ...s, view: "branches", q: f.name })}>{branch.length} branches of this function</a></p> : null}
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
      <div class="wide"><table>{heads("Line|>Before|>After|>Δ|>Change, % [95 %]|_Interval|Verdict")}<tbody>
        {list.map((l, i) => <tr key={i}><th scope="row" class="name"><bdi>{place(l)}</bdi>{l.text ? <code class="dim"> {l.text.trim()}</code> : null}</th>{changeCells(e.meta, l.self)}<td class="bar"><Bar c={l.self} reach={reach} /></td><td><Verdict c={l.self} /></td></tr>)}
      </tbody></table></div>
      <p class="legend">Lines are counted from the start of the function where it is known, so that code inserted above does not move them.</p>
    </div>
  );
}

function Code({ listing }: { listing: Listing }) {
  const peak = listing.Rows.reduce((m, r) => Math.max(m, r.BaseSamples / (listing.BaseSamples || 1), r.HeadSamples / (listing.HeadSamples || 1)), 0) || 1;
  const cell = (n: number, all: number) => <td class="n">{n > 0 ? <span>{count(n)} <span class="dim">{((100 * n) / all).toFixed(1)}%</span></span> : ""}<span class="heat" style={heat(n > 0 ? Math.max(1, (46 * n) / all / peak) : 0)} /></td>;
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
    const share = Math.max(r.BaseSamples / (listing.BaseSamples || 1), r.HeadSamples / (listing.HeadSamples || 1));
    rows.push(
      <tr key={i} class={side + (share > 0.05 ? " hot" : "")}>
        <td class="n dim">{at(r.BaseOffset)}</td><td class="n dim">{at(r.HeadOffset)}</td>
        <td class="ins"><bdi>{side === "gone" ? "− " : side === "new" ? "+ " : "  "}{r.HeadText || r.BaseText}</bdi>{r.BaseText && r.HeadText && r.BaseText !== r.HeadText ? <span class="dim">  was {r.BaseText}</span> : null}</td>
        {cell(r.BaseSamples, listing.BaseSamples || 1)}{cell(r.HeadSamples, listing.HeadSamples || 1)}
      </tr>,
    );
  });
  return (
    <div>
      <h3>Instructions of {listing.Event}</h3>
      <p class="legend">Aligned by what the instructions are, not by their addresses: + is after only, − before only. Samples, and their part of the function’s. {listing.Note}</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Instructions"><table class="code">{heads(">Before|>After|Instruction|>Samples before|>Samples after")}<tbody>{rows}</tbody></table></div>
    </div>
  );
}

