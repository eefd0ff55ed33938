// Branches: functions, their branches, and the code around them.

import { Facts, count, h, heads, matcher, minus, plural, useState, weight } from "./kit";
import type { State } from "./state";
import type { Branch, BranchSide, BranchSource, Branches } from "./types";

const pct = (v: number) => minus((100 * v).toFixed(v < 0.1 ? 2 : 1)) + "\u202f%";

function Rate({ b }: { b: BranchSide | null }) {
  if (!b) return <span class="dim">–</span>;
  if (b.Rate === null && b.CI === null) return <span class="dim">{b.Enough ? "not known" : "too few"}, n {count(b.N)}</span>;
  return (
    <span>{b.Rate !== null ? <b>{pct(b.Rate)}</b> : <b>{pct(b.CI![0])} to {pct(b.CI![1])}</b>} <span class="dim">{b.Rate !== null && b.CI && b.CI[0] !== b.CI[1] ? `[${pct(b.CI[0])}, ${pct(b.CI[1])}] ` : ""}n {count(b.N)}{b.Bounded ? ", bounds" : ""}</span></span>
  );
}

const Taken = ({ b }: { b: BranchSide | null }) => (b && b.Taken !== null ? <span>{pct(b.Taken)}</span> : <span class="dim">–</span>);
const number = (v: number | null | undefined) => (v === null || v === undefined ? "–" : weight(v, "count"));

function Source({ title, b }: { title: string; b: BranchSource }) {
  return (
    <div>
      {title ? <h3>{title}</h3> : null}
      <Facts list={[
        ["made from", <span><b>{b.Means}</b> (tier {b.Tier}){b.Unknown ? <span class="warn"> — which branches were mispredicted is unknown: {b.Unknown}</span> : null}</span>],
        ["recording", <span><bdi>{b.Name}</bdi>{b.Tool ? ", " + b.Tool : ""}{b.CPU ? ", " + b.CPU : ""}</span>],
        ["events", (b.Events ?? []).join(", ")], ["numbers", b.Counts],
        ...(b.Facts ?? []).map((f): [string, string] => [f.Name, f.Text]),
      ]} />
    </div>
  );
}

export function BranchView({ s, b }: { s: State; b: Branches }) {
  const two = b.Head !== null;
  const match = matcher(s.q);
  const [open, setOpen] = useState<number>(-1);
  const rows = (b.Rows ?? []).map((r, i) => ({ r, i })).filter(({ r }) => match.test(r.Function) || match.test(r.DSO) || match.test(r.File));
  const byFunction: { name: string; dso: string; rows: { r: Branch; i: number }[] }[] = [];
  for (const x of rows) {
    let f = byFunction.find((g) => g.name === x.r.Function && g.dso === x.r.DSO);
    if (!f) byFunction.push((f = { name: x.r.Function, dso: x.r.DSO, rows: [] }));
    f.rows.push(x);
  }
  // What no branch has is no column.
  const priced = (b.Rows ?? []).some((r) => r.Base?.Lost || r.Head?.Lost);
  const columns = (two ? 11 : 8) + (priced ? 1 : 0);
  const lost = (x: BranchSide | null) => (x && x.Lost ? `${weight(x.Lost[0], "count", 3)} to ${weight(x.Lost[1], "count", 3)}` : "–");
  return (
    <div>
      <div class="two">{b.Base ? <Source title={two ? "Before" : ""} b={b.Base} /> : null}{b.Head ? <Source title="After" b={b.Head} /> : null}</div>
      <p class="dim" role="status">{plural(rows.length, "branch").replace("branchs", "branches")} in {plural(byFunction.length, "function")}{b.Hidden > 0 ? `; ${count(b.Hidden)} with too few misses are left out` : ""}. A rate stands with its 95 % interval and the executions n that it is made from.</p>
      {byFunction.slice(0, 100).map((f) => (
        <section key={f.name + "\0" + f.dso}>
          <h2><bdi class="name">{f.name || "[unknown]"}</bdi> <span class="note"><bdi>{f.dso}</bdi></span></h2>
          <div class="wide"><table>{heads((two ? "Branch|Kind|Line|Miss rate before|after|Change|>Misses before|>after|>Taken|>per 1,000 instr." : "Branch|Kind|Line|Miss rate|>Misses|>Taken|>per 1,000 instr.") + (priced ? "|>Cycles lost" : "") + "|Confidence")}<tbody>
            {f.rows.map(({ r, i }) => {
              const latest = r.Head ?? r.Base;
              const code = r.Code >= 0 ? (b.Code ?? [])[r.Code] : undefined;
              return [
                <tr key={i}>
                  <th scope="row" class="name">{code ? <button type="button" class="button" aria-expanded={open === i} onClick={() => setOpen(open === i ? -1 : i)}>{r.Place}</button> : r.Place}</th>
                  <td>{r.Kind || <span class="dim">unknown</span>}{latest?.Class ? <span class="note"> {latest.Class}</span> : null}</td>
                  <td class="name"><bdi>{r.File ? `${r.File}:${r.Line}` : ""}</bdi></td>
                  {two ? [<td><Rate b={r.Base} /></td>, <td><Rate b={r.Head} /></td>, <td class={r.Verdict}>{r.Verdict === "regressed" ? "▲ " : r.Verdict === "improved" ? "▼ " : ""}{r.Change}</td>] : <td><Rate b={r.Base} /></td>}
                  {two ? [<td class="n">{number(r.Base?.Misses)}</td>, <td class="n">{number(r.Head?.Misses)}</td>] : <td class="n">{number(r.Base?.Misses)}</td>}
                  <td class="n">{two ? <span><Taken b={r.Base} /> → <Taken b={r.Head} /></span> : <Taken b={r.Base} />}</td>
                  <td class="n">{two ? `${number(r.Base?.MPKI)} → ${number(r.Head?.MPKI)}` : number(r.Base?.MPKI)}</td>
                  {priced ? <td class="n">{two ? `${lost(r.Base)} → ${lost(r.Head)}` : lost(r.Base)}</td> : null}
                  <td class="dim">{latest?.Confidence}</td>
                </tr>,
                open === i && code ? (
                  <tr key={"c" + i}><td colSpan={columns}>
                    <div class="scroll" tabIndex={0} role="region" aria-label={"Code of " + code.Function}><table class="code">{heads(">Offset|Instruction|Misses")}<tbody>{codeRows(code.Rows, b, i)}</tbody></table></div>
                  </td></tr>
                ) : null,
              ];
            })}
          </tbody></table></div>
        </section>
      ))}
    </div>
  );
}

function codeRows(rows: { Offset: number; Text: string; File: string; Line: number; Source: string; Branch: number }[], b: Branches, chosen: number) {
  const out: preact.VNode[] = [];
  let last = "";
  rows.forEach((r, i) => {
    const where = r.File ? `${r.File}:${r.Line}` : "";
    if (where && where !== last) {
      out.push(<tr key={"s" + i} class="src"><td /><td class="ins" colSpan={2}><bdi>{where}{r.Source ? "  " + r.Source : ""}</bdi></td></tr>);
      last = where;
    }
    const branch = r.Branch >= 0 ? (b.Rows ?? [])[r.Branch] : undefined;
    const side = branch?.Head ?? branch?.Base ?? null;
    out.push(<tr key={i} class={r.Branch === chosen ? "hot" : ""}><td class="n dim">+{r.Offset.toString(16)}</td><td class="ins"><bdi>{r.Text}</bdi></td><td>{branch ? <Rate b={side} /> : null}{side && side.Rate !== null ? <span class="heat" style={{ width: Math.max(1, 60 * side.Rate) + "px" }} /> : null}</td></tr>);
  });
  return out;
}
