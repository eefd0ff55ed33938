// Branches: functions, their branches, and the code around them.

import { Dim, Facts, Fragment, Legend, Marked, Name, None, Wide, count, h, heads, matcher, minus, num, plural, useState, weight } from "./kit";
import type { State } from "./state";
import type { Branch, BranchFunction, BranchSide, BranchSource, Branches, CodeInst, CodeRow, FunctionMisses } from "./types";

const pct = (v: number) => minus((100 * v).toFixed(v < 0.1 ? 2 : 1)) + "\u202f%";

const range = (ci: [number, number] | null) => (ci && ci[0] !== ci[1] ? ` [${pct(ci[0])}, ${pct(ci[1])}]` : "");

function Rate({ b }: { b: BranchSide | null }) {
  if (!b) return <Dim>–</Dim>;
  const taken = b.OfTaken ?? null;
  const ofTaken = taken === null ? null : <span><b>{pct(taken)}</b><Dim>{range(b.OfTakenCI)} of taken</Dim></span>;
  if (b.Rate !== null) return <span><b>{pct(b.Rate)}</b><Dim>{range(b.CI)} n {count(b.N)}</Dim></span>;
  if (b.Bounds) return <span><span class="block"><b>{pct(b.Bounds[0])} to {pct(b.Bounds[1])}</b><Dim>{range(b.CI)}, n {count(b.N)}</Dim></span>{ofTaken}</span>;
  if (ofTaken) return <span>{ofTaken}<Dim>, n {count(b.N)}</Dim></span>;
  return <Dim>{b.Enough ? "not known" : "too few"}, n {count(b.N)}</Dim>;
}

const Taken = ({ b }: { b: BranchSide | null }) => (b && b.Taken !== null ? <span>{pct(b.Taken)}</span> : <Dim>–</Dim>);
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

export function BranchView({ s, block: b }: { s: State; block: Branches }) {
  const two = b.Head !== null;
  const match = matcher(s.q, s.re);
  const [open, setOpen] = useState<number>(-1);
  const rows = (b.Rows ?? []).map((r, i) => ({ r, i })).filter(({ r }) => match.test(r.Function, r.DSO, r.File));
  const byFunction: { name: string; dso: string; rows: { r: Branch; i: number }[] }[] = [];
  for (const x of rows) {
    let f = byFunction.find((g) => g.name === x.r.Function && g.dso === x.r.DSO);
    if (!f) byFunction.push((f = { name: x.r.Function, dso: x.r.DSO, rows: [] }));
    f.rows.push(x);
  }
  const functions = (b.Functions ?? []).filter((f) => match.test(f.Name, f.DSO));
  // What no branch has is no column.
  const priced = (b.Rows ?? []).some((r) => r.Base?.Lost || r.Head?.Lost);
  const scaled = (b.Rows ?? []).some((r) => typeof r.Base?.MPKI === "number" || typeof r.Head?.MPKI === "number");
  const columns = (two ? 10 : 7) + (priced ? 1 : 0) + (scaled ? 1 : 0);
  const lost = (x: BranchSide | null) => (x && x.Lost ? `${weight(x.Lost[0], "count", 3)} to ${weight(x.Lost[1], "count", 3)}` : "–");
  return (
    <div>
      <div class="two">{b.Base ? <Source title={two ? "Before" : ""} b={b.Base} /> : null}{b.Head ? <Source title="After" b={b.Head} /> : null}</div>
      <p class="dim" role="status">{plural(rows.length, "branch", "branches")} in {plural(byFunction.length, "function")}{b.Hidden > 0 ? `; ${count(b.Hidden)} with too few misses are left out` : ""}. A rate is of executions, with its 95 % interval and the executions n that it is made from.</p>
      {functions.length > 0 ? <FunctionTable list={functions} two={two} /> : null}
      {byFunction.length === 0 ? <None>No branches{match.all ? "" : " that match"}.</None> : (
        <Wide labels={(two ? "Branch|Kind|Line|Miss rate before|after|Change|>Misses before|>after|>Taken" : "Branch|Kind|Line|Miss rate|>Misses|>Taken") + (scaled ? "|>per 1,000 instr." : "") + (priced ? "|>Cycles lost" : "") + "|Confidence"}
          more={byFunction.length > MOST ? <Legend>{plural(byFunction.length - MOST, "more function")}: search to find them.</Legend> : null}>
          {byFunction.slice(0, MOST).map((f) => (
            <Fragment key={f.name + "\0" + f.dso}>
              <tr class="group"><th scope="rowgroup" colSpan={columns}><bdi class="name">{f.name || "[unknown]"}</bdi> <span class="note"><bdi>{f.dso}</bdi></span></th></tr>
              {f.rows.map(({ r, i }) => {
                const latest = r.Head ?? r.Base;
                const code = r.Code >= 0 ? (b.Code ?? [])[r.Code] : undefined;
                const both = <T extends preact.ComponentChildren>(of: (x: BranchSide | null) => T) => num(two ? <span>{of(r.Base)} → {of(r.Head)}</span> : of(r.Base));
                return [
                  <tr key={i}>
                    <Name>{code ? <button type="button" class="button" aria-expanded={open === i} onClick={() => setOpen(open === i ? -1 : i)}>{r.Place} <span aria-hidden="true">{open === i ? "▾" : "▸"}</span></button> : r.Place}</Name>
                    <td>{r.Kind || <Dim>unknown</Dim>}{latest?.Class ? <span class="note"> {latest.Class}</span> : null}</td>
                    <td class="name"><bdi>{r.File ? `${r.File}:${r.Line}` : ""}</bdi></td>
                    <td><Rate b={r.Base} /></td>{two ? [<td><Rate b={r.Head} /></td>, <td><Marked v={marked(r.Verdict)}>{r.Change}</Marked></td>] : null}
                    {num(number(r.Base?.Misses))}{two ? num(number(r.Head?.Misses)) : null}
                    {both((x) => <Taken b={x} />)}
                    {scaled ? both((x) => number(x?.MPKI)) : null}
                    {priced ? both(lost) : null}
                    <td class="dim">{latest?.Confidence}</td>
                  </tr>,
                  open === i && code ? <tr key={"c" + i}><td colSpan={columns}><Code code={code} b={b} chosen={i} /></td></tr> : null,
                ];
              })}
            </Fragment>
          ))}
        </Wide>
      )}
    </div>
  );
}

const MOST = 100;

/** Only what was decided has a sign. */
const marked = (verdict: string) => (verdict === "regressed" || verdict === "improved" ? verdict : "");

/** Scrolls to the branch that was chosen, once. */
const showChosen = (el: HTMLElement | null) => {
  const at = el?.querySelector<HTMLElement>(".chosen");
  if (el && at) el.scrollTop += at.getBoundingClientRect().top - el.getBoundingClientRect().top - el.clientHeight / 2;
};

/** The code of a function, on the sides that have it. */
function Code({ code, b, chosen }: { code: { Function: string; Rows: CodeRow[] }; b: Branches; chosen: number }) {
  const base = code.Rows.some((r) => r.Base), head = code.Rows.some((r) => r.Head), both = base && head;
  const out: preact.VNode[] = [];
  let last = "";
  const cells = (x: CodeInst | null, own: boolean, after: boolean) => {
    if (!own) return [];
    const branch = x && x.Branch >= 0 ? (b.Rows ?? [])[x.Branch] : undefined;
    const side = branch ? (after ? branch.Head : branch.Base) : null;
    return [
      <td class="n dim">{x ? "+" + x.Offset.toString(16) : ""}</td>, <td class={"ins" + (x && x.Branch === chosen && chosen >= 0 ? " chosen" : "")}><bdi>{x?.Text}</bdi></td>,
      <td class="rate">{side ? <Rate b={side} /> : null}{side && side.Rate !== null ? <span class="heat" style={{ width: Math.max(1, 60 * side.Rate) + "px" }} /> : null}</td>,
    ];
  };
  code.Rows.forEach((r, i) => {
    const where = r.File ? `${r.File}:${r.Line}` : "";
    if (where && where !== last) {
      out.push(<tr key={"s" + i} class="src"><td /><td class="ins" colSpan={both ? 5 : 2}><bdi>{where}{r.Source ? "  " + r.Source : ""}</bdi></td></tr>);
      last = where;
    }
    out.push(<tr key={i} class={both && !r.Head ? "gone" : both && !r.Base ? "new" : ""}>{cells(r.Base, base, false)}{cells(r.Head, head, true)}</tr>);
  });
  const two = b.Head !== null;
  const title = (of: string) => `>Offset|${two ? of + ": instruction" : "Instruction"}|Misses`;
  const labels = [base ? title("Before") : "", head ? title("After") : ""].filter((x) => x !== "").join("|");
  return <div class="scroll" ref={showChosen} tabIndex={0} role="region" aria-label={"Code of " + code.Function}><table class={"code " + (both ? "both" : "one")}>{heads(labels)}<tbody>{out}</tbody></table></div>;
}

/** Functions with misses, where it is not known which of their branches had them. */
function FunctionTable({ list, two }: { list: BranchFunction[]; two: boolean }) {
  const has = (of: (m: FunctionMisses) => string) => list.some((f) => (f.Base && of(f.Base) !== "") || (f.Head && of(f.Head) !== ""));
  const pmu = list.some((f) => f.PMU !== "");
  const rate = !two && has((m) => m.Rate), mpki = !two && has((m) => m.MPKI);
  const misses = (m: FunctionMisses | null) => (m ? <span>{weight(m.Misses, "count")}{m.CI && m.CI[0] !== m.CI[1] ? <Dim> [{weight(m.CI[0], "count", 3)}, {weight(m.CI[1], "count", 3)}]</Dim> : null}</span> : "–");
  return (
    <section>
      <h2>Functions</h2>
      <Wide labels={"Function|File" + (pmu ? "|Core" : "") + (two ? "|>Misses before|>after|>Samples|Change" : "|>Misses|>Samples") + (rate ? "|>of branches" : "") + (mpki ? "|>per 1,000 instr." : "")}>
        {list.slice(0, MOST).map((f, i) => (
          <tr key={i}>
            <Name><bdi>{f.Name || "[unknown]"}</bdi></Name><td><bdi>{f.DSO}</bdi></td>{pmu ? <td>{f.PMU}</td> : null}
            {num(misses(f.Base))}{two ? num(misses(f.Head)) : null}
            {num(two ? `${count(f.Base?.Samples ?? 0)} → ${count(f.Head?.Samples ?? 0)}` : count(f.Base?.Samples ?? 0))}
            {two ? <td><Marked v={marked(f.Verdict)}>{f.Change}</Marked></td> : null}
            {rate ? num(f.Base?.Rate) : null}{mpki ? num(f.Base?.MPKI) : null}
          </tr>
        ))}
      </Wide>
      {list.length > MOST ? <Legend>{plural(list.length - MOST, "more function")}.</Legend> : null}
    </section>
  );
}
