// What llvm-mca predicts of loops.

import { Dim, Facts, Fragment, Legend as Note, None, Wide, digits, h, matcher, share } from "./kit";
import type { State } from "./state";
import type { Estimate, Loop, LoopSide, Pipeline, Step } from "./types";

const n3 = (v: number) => String(Number(v.toPrecision(3)));
const cyc = (v: number) => (v < 0.0005 ? "0" : digits(v));
const factor = (v: number) => (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2));
const estimate = (e: Estimate) => `${factor(e.Value)}× [${factor(e.Lo)}, ${factor(e.Hi)}]`;

const RATES: Record<string, string> = {
  measured: "measured: from branch stacks", given: "given by the user", known: "known: counted, and the data is random with known odds",
  simulated: "simulated: how often branches are taken was counted, mispredictions are Callgrind's where they are no more than the rarer direction",
  assumed: "assumed: nothing is known, each way is taken half of the time and half is mispredicted",
};

export function PipelineView({ s, block: p }: { s: State; block: Pipeline }) {
  const match = matcher(s.q, s.re);
  const loops = (p.Loops ?? []).filter((l) => match.test(l.Name));
  return (
    <div>
      <p><span class="static-model">Static model, not a measurement</span> What is not called measured is predicted, for code in the first-level cache.</p>
      <Facts list={[
        ["predicted by", `${p.Tool}, model ${p.Model}${p.StandIn ? ` of ${p.StandIn} in its place` : ""}${p.Core ? `; scheduled with the widths and latencies measured on ${p.Core}` : ""}`],
        ["refill after a misprediction", p.Refill],
      ]} />
      {loops.length === 0 ? <None>No loops{match.all ? "" : " that match"}.</None> : loops.map((l, i) => <LoopView key={i} l={l} id={i} only={loops.length === 1} />)}
    </div>
  );
}

type Named = [string, LoopSide];

function LoopView({ l, id, only }: { l: Loop; id: number; only: boolean }) {
  const sides: Named[] = ([["before", l.Base], ["after", l.Head]] as [string, LoopSide | null][]).filter((x): x is Named => x[1] !== null);
  const cycles = Math.max(1, ...sides.map(([, x]) => Math.max(0, ...(x.Timeline ?? []).map((t) => t.Retired + 1))));
  const most = Math.max(0.001, ...sides.map(([, x]) => x.Throughput));
  const ways = sides.flatMap(([k, x]) => (x.Ways ?? []).map((w) => [k, w] as const));
  const drawn = sides.filter(([, x]) => x.Timeline?.length);
  // Instructions take the same room on both sides, for the axis is the same.
  const wide = Math.min(60, Math.max(...drawn.flatMap(([, x]) => x.Timeline!.map((t) => t.Text.length + (t.Mark ? t.Mark.length + 1 : 0))), 12) + 1);
  const row = (name: string, of: (x: LoopSide) => string) => <tr><th scope="row">{name}</th>{sides.map(([k, x]) => <td key={k} class="n">{of(x)}</td>)}</tr>;
  return (
    <section aria-labelledby={"loop" + id}>
      <h2 id={"loop" + id}><bdi class="name">{l.Name}</bdi></h2>
      <Facts list={[
        ["not predicted", l.NotPredicted ?? ""],
        ["rates of branches", l.NotPredicted ? "" : RATES[l.RateSource] ?? l.RateSource],
        ["speed-up, predicted", l.Predicted ? <span><b>{estimate(l.Predicted)}</b> {l.Verdict ? <Dim>{l.Verdict}, 90{"\u202f"}% interval</Dim> : null}</span> : ""],
        ["greatest doubt", l.Doubt ?? ""],
        ["to shrink it", l.Remedy ?? ""],
        ["speed-up, measured", l.Measured ? <span><b>{estimate(l.Measured)}</b> <Dim>{l.MeasuredBy}</Dim></span> : ""],
        ["of the program, predicted", l.Program ? <span><b>{estimate(l.Program)}</b>{l.Share !== null ? <Dim> with {share(l.Share)} of the samples in the loop</Dim> : null}</span> : ""],
      ]} />
      {l.NotPredicted ? null : <div class="two">
        <div>
          <Wide labels={"Predicted for " + l.Unit.replace(/\|/g, "¦") + sides.map(([k]) => "|>" + k[0].toUpperCase() + k.slice(1)).join("")}>
            {row("cycles", (x) => cyc(x.Throughput))}
            {row("least and most of several walks", (x) => `${cyc(x.Lo)} to ${cyc(x.Hi)}`)}
            {row("instructions", (x) => cyc(x.Instructions))}
            {row("instructions per cycle", (x) => cyc(x.IPC))}
            {row("mispredicted branches", (x) => cyc(x.Mispredicted))}
            {row("cycles a misprediction", (x) => (x.Mispredicted > 0 ? cyc(x.MissCost) : "–"))}
            {row("most cycles go to", (x) => x.Bottleneck)}
          </Wide>
          <h3>Where the cycles go</h3>
          {sides.map(([k, x]) => <Split key={k} name={k} parts={x.Cycles ?? []} most={most} />)}
          <Legend parts={sides[0]?.[1].Cycles ?? []} />
        </div>
        {l.BreakEven && l.BreakEven.length > 1 ? <BreakEven l={l} /> : l.Says ? <p>Break-even: {l.Says}.</p> : null}
      </div>}
      {ways.length > 0 ? (
        <Fragment>
          <h3>Ways through the code</h3>
          <Wide labels="Side|Way|>Instructions|>Cycles of one run|>of each of many">{ways.map(([k, w], i) => <tr key={i}><td>{k}</td><th scope="row">{w.Name}</th><td class="n">{w.Instructions}</td><td class="n">{cyc(w.Once)}</td><td class="n">{cyc(w.Steady)}</td></tr>)}</Wide>
          <Note>As llvm-mca says: no branch is mispredicted.{l.MoreWays ? ` Not shown: ${l.MoreWays}.` : sides.every(([, x]) => x.AllWays) ? "" : " There are more ways."}</Note>
        </Fragment>
      ) : null}
      {drawn.length > 0 ? (
        <details open={only}>
          <summary><b>Timeline</b></summary>
          <Note>Cycles from the dispatch of the first instruction, on one axis for both sides. <Key cls="wait" text="dispatched, waits for operands or a unit" /> <Key cls="run" text="executes" /> <Key cls="done" text="executed, waits to retire in order" /></Note>
          {drawn.map(([k, x]) => <Timeline key={k} name={k} x={x} cycles={cycles} wide={wide} />)}
        </details>
      ) : null}
      {(l.Notes ?? []).map((n, i) => <p key={i} class="legend">{n}</p>)}
    </section>
  );
}

const SHADES = ["part-0", "part-1", "part-2", "part-3"];
type Parts = { Name: string; Cycles: number }[];

function Split({ name, parts, most }: { name: string; parts: Parts; most: number }) {
  const sum = parts.reduce((a, c) => a + c.Cycles, 0);
  return (
    <div>
      <div><b>{name}</b> <Dim>{cyc(sum)} = {parts.filter((c) => cyc(c.Cycles) !== "0").map((c) => `${c.Name} ${cyc(c.Cycles)}`).join(" + ")}</Dim></div>
      <div class="split" style={{ width: Math.min(100, (100 * sum) / most) + "%" }} aria-hidden="true">{parts.map((c, i) => (c.Cycles > 0 ? <span key={i} class={SHADES[i % 4]} title={`${c.Name}: ${cyc(c.Cycles)}`} style={{ flexGrow: c.Cycles }} /> : null))}</div>
    </div>
  );
}

const Legend = ({ parts }: { parts: Parts }) => <p class="legend" aria-hidden="true">{parts.map((c, i) => <span key={i} class="key"><span class={"swatch " + SHADES[i % 4]} /> {c.Name}</span>)}</p>;

/** Round numbers up to most, a few of them. */
function ticks(most: number, few: number): number[] {
  const raw = most / few, scale = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * scale).find((x) => x >= raw)!;
  const list = [];
  for (let v = 0; v <= most * 1.0001; v += step) list.push(Number(v.toPrecision(6)));
  return list;
}

/** Speed-up against the rate of misses, with the rate that the prediction was made with. */
function BreakEven({ l }: { l: Loop }) {
  const pts = l.BreakEven!, W = 520, H = 250, L = 44, R = 14, T = 18, B = 40;
  const far = Math.max(l.At ?? 0, l.Rate?.Hi ?? 0) * 1.5;
  const shown = pts.filter((p, i) => i < 3 || p.Rate <= Math.max(far, 0.1));
  const maxRate = shown[shown.length - 1].Rate;
  const hi = Math.max(1.05, ...shown.map((p) => p.Hi)), lo = 0;
  const x = (r: number) => L + (r / maxRate) * (W - L - R), y = (v: number) => T + ((hi - v) / (hi - lo)) * (H - B - T);
  const at = (p: { Rate: number }, v: number) => x(p.Rate).toFixed(1) + " " + y(v).toFixed(1);
  const line = "M" + shown.map((p) => at(p, p.Speedup)).join("L");
  const band = "M" + shown.map((p) => at(p, p.Hi)).join("L") + shown.slice().reverse().map((p) => "L" + at(p, p.Lo)).join("") + "Z";
  const from = l.RateSource || "measured", rate = l.Rate;
  const where = (r: number) => (x(r) > W - 130 ? { x: x(r) - 5, "text-anchor": "end" } : { x: x(r) + 5, "text-anchor": "start" });
  const text = `${l.At !== null ? `Break-even at ${n3(100 * l.At)} % of the branches mispredicted` : "No break-even"}: ${l.Says}`;
  return (
    <figure>
      <figcaption><b>Predicted speed-up by the rate of misses</b></figcaption>
      <svg width={W} height={H} viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`${text}. ${rate ? `${from} ${n3(100 * rate.Value)} %` : ""}`}>
        {ticks(hi, 4).map((v) => <g key={v}><path class="tick" d={`M${L} ${y(v)}H${W - R}`} /><text x={L - 6} y={y(v) + 4} text-anchor="end">{n3(v)}×</text></g>)}
        {ticks(100 * maxRate, 5).map((v) => <text key={"x" + v} x={x(v / 100)} y={H - B + 15} text-anchor="middle">{n3(v)} %</text>)}
        <path class="axis" d={`M${L} ${T}V${H - B}H${W - R}`} fill="none" />
        <path class="band" d={band} />
        <path class="even" d={`M${L} ${y(1)}H${W - R}`} />
        <path class="curve" d={line} />
        {l.At !== null && l.At <= maxRate ? <g><path class="even" d={`M${x(l.At)} ${y(1)}V${H - B}`} /><circle class="at" cx={x(l.At)} cy={y(1)} r="4" /><text {...where(l.At)} y={y(1) + 16}>break-even {n3(100 * l.At)} %</text></g> : null}
        {rate && rate.Value <= maxRate ? <g><path class="rate" d={`M${x(rate.Value)} ${T - 4}V${H - B}`} /><text {...where(rate.Value)} y={T + 4}>{from} {n3(100 * rate.Value)} %</text></g> : null}
        <text x={(L + W - R) / 2} y={H - 6} text-anchor="middle">rate of misses of the branches that data decide</text>
      </svg>
      <Note>{text}. Above 1× the change gains; the band is the interval of the prediction.</Note>
    </figure>
  );
}

const W = 900;
const scale = (cycles: number) => Math.max(W, 7 * cycles);

function Axis({ cycles }: { cycles: number }) {
  const w = scale(cycles), x = (c: number) => (c / cycles) * w;
  return (
    <svg width={w} height="16" viewBox={`0 0 ${w} 16`} aria-hidden="true">
      {ticks(cycles, w / 70).filter(Number.isInteger).map((c) => <g key={c}><path class="tick" d={`M${x(c)} 12V16`} /><text x={x(c)} y="11" text-anchor={c === 0 ? "start" : x(c) > w - 12 ? "end" : "middle"}>{c}</text></g>)}
    </svg>
  );
}

const Key = ({ cls, text }: { cls: string; text: string }) => (
  <span class="key"><svg width="26" height="12" viewBox="0 0 26 12" aria-hidden="true">{cls === "run" ? <rect class="run" x="1" y="1" width="24" height="10" /> : <path class={cls} d="M0 6H26" />}</svg> {text}</span>
);

/** One row an instruction, on the axis of both sides. */
function Timeline({ name, x: side, cycles, wide }: { name: string; x: LoopSide; cycles: number; wide: number }) {
  const steps = side.Timeline!, w = scale(cycles), x = (c: number) => ((c / cycles) * w).toFixed(1);
  const lines = ticks(cycles, w / 70).filter(Number.isInteger);
  const last = Math.max(...steps.map((t) => t.Retired + 1));
  const draw = (t: Step) => {
    const text = `dispatched in cycle ${t.Dispatched}, issued ${t.Issued}, executed ${t.Executed}, retired ${t.Retired}`;
    return (
      <svg width={w} height="14" viewBox={`0 0 ${w} 14`} role="img" aria-label={text}>
        <title>{text}</title>
        <path class="tick" d={lines.map((c) => `M${x(c)} 0V14`).join("")} />
        <path class="wait" d={`M${x(t.Dispatched)} 7H${x(t.Issued)}`} />
        <path class="done" d={`M${x(t.Executed)} 7H${x(t.Retired + 1)}`} />
        {t.Executed > t.Issued ? <rect class="run" x={x(t.Issued)} y="2" width={((t.Executed - t.Issued) / cycles) * w} height="10" /> : null}
      </svg>
    );
  };
  return (
    <Fragment>
      <p><b>{name}</b> <Dim>{last} cycles for {steps.length} instructions{side.Drawn ? ", " + side.Drawn : ""}</Dim></p>
      <div class={"scroll timeline" + (steps.length > 40 ? " long" : "")} tabIndex={0} role="region" aria-label={"Timeline " + name}><table class="code">
        <thead><tr><th scope="col" class="n">#</th><th scope="col">Instruction</th><th scope="col"><span class="vh">Cycles</span><Axis cycles={cycles} /></th></tr></thead>
        <tbody>{steps.map((t, i) => (
          <tr key={i}><td class="n dim"><div class="at">{t.Index}</div></td><td><div class="asm" style={{ width: wide + "ch" }} title={t.Text}><bdi>{t.Text}</bdi>{t.Mark ? <span class="mark-hot"> {t.Mark}</span> : null}</div></td><td>{draw(t)}</td></tr>
        ))}</tbody>
      </table></div>
    </Fragment>
  );
}
