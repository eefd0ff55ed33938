// What llvm-mca predicts of loops.

import { h, heads, matcher } from "./kit";
import type { State } from "./state";
import type { Estimate, Loop, LoopSide, Pipeline, Step } from "./types";

const n3 = (v: number) => String(Number(v.toPrecision(3)));
const estimate = (e: Estimate | null) => (e ? `${n3(e.Value)}× [${n3(e.Lo)}, ${n3(e.Hi)}]` : "–");

export function PipelineView({ s, p }: { s: State; p: Pipeline }) {
  const match = matcher(s.q);
  const loops = (p.Loops ?? []).filter((l) => match.test(l.Name));
  return (
    <div>
      <p><span class="static-model">Static model, not a measurement</span> {p.Tool}, model <code>{p.Model}</code>{p.StandIn ? `, which stands in for ${p.StandIn}` : ""}.</p>
      {loops.length === 0 ? <p class="none">No loops{match.all ? "" : " that match"}.</p> : loops.map((l, i) => <LoopView key={i} l={l} id={i} />)}
    </div>
  );
}

function LoopView({ l, id }: { l: Loop; id: number }) {
  const sides: [string, LoopSide | null][] = [["before", l.Base], ["after", l.Head]];
  const cycles = Math.max(1, ...sides.map(([, x]) => Math.max(0, ...(x?.Timeline ?? []).map((t) => t.Retired))));
  const most = Math.max(0.001, ...sides.map(([, x]) => (x?.Cycles ?? []).reduce((a, c) => a + c.Cycles, 0)));
  const row = (name: string, of: (x: LoopSide) => string) => <tr><th scope="row">{name}</th>{sides.map(([k, x]) => <td key={k} class="n">{x ? of(x) : "–"}</td>)}</tr>;
  return (
    <section aria-labelledby={"loop" + id}>
      <h2 id={"loop" + id}><bdi class="name">{l.Name}</bdi></h2>
      <div class="two">
        <div>
          <table>{heads("Predicted|>Before|>After")}<tbody>
            {row("cycles per " + (l.Unit || "iteration"), (x) => n3(x.Throughput))}
            {row("instructions per cycle", (x) => n3(x.IPC))}
            {row("bottleneck", (x) => x.Bottleneck || "none named")}
          </tbody></table>
          <p>Speed-up predicted <b>{estimate(l.Predicted)}</b>{l.Measured ? <span>, measured <b>{estimate(l.Measured)}</b></span> : null}</p>
          {sides.map(([k, x]) => x && (x.Cycles ?? []).length > 0 ? <Split key={k} name={k} parts={x.Cycles!} most={most} /> : null)}
        </div>
        {l.BreakEven && l.BreakEven.length > 1 ? <BreakEven l={l} /> : null}
      </div>
      {(l.Notes ?? []).map((n, i) => <p key={i} class="legend">{n}</p>)}
      {sides.map(([k, x]) => x?.Timeline?.length ? <Timeline key={k} name={k} steps={x.Timeline} cycles={cycles} /> : null)}
    </section>
  );
}

const SHADES = ["var(--frame)", "var(--shrank-fill)", "var(--grew-fill)", "var(--match)", "var(--frame-line)"];

function Split({ name, parts, most }: { name: string; parts: { Name: string; Cycles: number }[]; most: number }) {
  const sum = parts.reduce((a, c) => a + c.Cycles, 0);
  return (
    <div>
      <div class="dim">{name}: {n3(sum)} cycles = {parts.map((c) => `${c.Name} ${n3(c.Cycles)}`).join(" + ")}</div>
      <div class="split" style={{ width: (100 * sum) / most + "%" }} aria-hidden="true">{parts.map((c, i) => <span key={i} title={`${c.Name}: ${n3(c.Cycles)}`} style={{ width: (100 * c.Cycles) / (sum || 1) + "%", background: SHADES[i % SHADES.length], borderRight: "1px solid var(--frame-line)" }} />)}</div>
    </div>
  );
}

/** Speed-up against the rate of misses, with the rate that was measured. */
function BreakEven({ l }: { l: Loop }) {
  const pts = l.BreakEven!, W = 460, H = 210, L = 46, B = 34;
  const maxRate = Math.max(...pts.map((p) => p.Rate), l.Rate?.Hi ?? 0) || 1;
  const hi = Math.max(1.05, ...pts.map((p) => p.Hi)), lo = Math.min(0.95, ...pts.map((p) => p.Lo));
  const x = (r: number) => L + (r / maxRate) * (W - L - 12), y = (v: number) => 10 + ((hi - v) / (hi - lo)) * (H - B - 10);
  const line = pts.map((p, i) => (i ? "L" : "M") + x(p.Rate).toFixed(1) + " " + y(p.Speedup).toFixed(1)).join("");
  const band = pts.map((p, i) => (i ? "L" : "M") + x(p.Rate).toFixed(1) + " " + y(p.Hi).toFixed(1)).join("") + pts.slice().reverse().map((p) => "L" + x(p.Rate).toFixed(1) + " " + y(p.Lo).toFixed(1)).join("") + "Z";
  const from = l.RateSource || "measured";
  const text = `Break-even: ${l.At !== null ? `no gain at a miss rate of ${n3(100 * l.At)} %` : "no rate of misses makes both alike"}${l.Rate ? `; ${from} ${n3(100 * l.Rate.Value)} %${l.Rate.Lo < l.Rate.Hi ? ` [${n3(100 * l.Rate.Lo)}, ${n3(100 * l.Rate.Hi)}]` : ""}` : "; the rate was not measured"}`;
  return (
    <figure style={{ margin: 0 }}>
      <svg width={W} height={H} viewBox={`0 0 ${W} ${H}`} role="img" aria-label={text}>
        <path class="axis" d={`M${L} 10V${H - B}H${W - 12}`} fill="none" />
        <path class="band" d={band} />
        <path class="even" d={`M${L} ${y(1)}H${W - 12}`} />
        <path class="curve" d={line} />
        {l.Rate ? <path class="band" d={`M${x(l.Rate.Lo)} 10H${x(l.Rate.Hi)}V${H - B}H${x(l.Rate.Lo)}Z`} /> : null}
        {l.Rate ? <path class="rate" d={`M${x(l.Rate.Value)} 10V${H - B}`} /> : null}
        <text x={L - 5} y={y(1) + 4} text-anchor="end">1×</text><text x={L - 5} y="16" text-anchor="end">{n3(hi)}×</text><text x={L - 5} y={H - B} text-anchor="end">{n3(lo)}×</text>
        <text x={L} y={H - 18} text-anchor="middle">0</text><text x={W - 12} y={H - 18} text-anchor="end">{n3(100 * maxRate)} %</text>
        <text x={(L + W) / 2} y={H - 4} text-anchor="middle">rate of misses before</text>
        {l.Rate ? <text x={Math.min(x(l.Rate.Value) + 5, W - 60)} y="22">{from}</text> : null}
      </svg>
      <figcaption class="legend">Predicted speed-up. {text}.</figcaption>
    </figure>
  );
}

/** One row an instruction: waiting thin, in execution filled, waiting to retire dashed. */
function Timeline({ name, steps, cycles }: { name: string; steps: Step[]; cycles: number }) {
  const W = 760, x = (c: number) => (c / (cycles + 1)) * W;
  const all = `0 0 ${W} 14`;
  return (
    <div>
      <h3>Timeline {name}, cycles 0 to {cycles} on the axis of both sides</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label={"Timeline " + name}><table class="code">{heads("[iteration, index]|Instruction|dispatched – ready ▬ issued to executed ┄ retired")}<tbody>
        {steps.map((t, i) => (
          <tr key={i}><td class="dim">[{t.Iteration},{t.Index}]</td><td><bdi>{t.Text}</bdi></td><td>
            <svg width={W} height="14" viewBox={all} role="img" aria-label={`dispatched in cycle ${t.Dispatched}, ready ${t.Ready}, issued ${t.Issued}, executed ${t.Executed}, retired ${t.Retired}`}>
              <path class="wait" d={`M${x(t.Dispatched)} 7H${x(t.Issued)}`} />
              <rect class="run" x={x(t.Issued)} y="2" width={Math.max(2, x(t.Executed) - x(t.Issued))} height="10" />
              <path class="done" d={`M${x(t.Executed)} 7H${x(t.Retired + 1)}`} />
            </svg>
          </td></tr>
        ))}
      </tbody></table></div>
    </div>
  );
}
