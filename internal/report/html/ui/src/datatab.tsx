// What the report rests on.

import { h } from "preact";
import { block } from "./data";
import { count, plural, share, weight } from "./format";
import { Download, Facts, heads } from "./parts";
import type { Data, Meta, Run } from "./types";

const seconds = (ns: number) => weight(ns, "nanoseconds");

/** The runs on an axis of time: base above, head below. */
function Order({ runs }: { runs: Run[] }) {
  const known = runs.filter((r) => r.At > 0);
  if (known.length < 2 || known.length < runs.length) return <p class="dim">When the runs were recorded is not known of all.</p>;
  const start = Math.min(...known.map((r) => r.At)), end = Math.max(...known.map((r) => r.At + r.DurationNS));
  const W = 900, x = (t: number) => 60 + ((t - start) / (end - start || 1)) * (W - 80);
  return (
    <div class="wide"><svg width={W} height="78" viewBox={`0 0 ${W} 78`} role="img" aria-label={"Order of the runs: " + known.slice().sort((a, b) => a.At - b.At).map((r) => (r.Head ? "after" : "before")).join(", ")}>
      <text x="0" y="22">before</text><text x="0" y="48">after</text>
      <path class="axis" d={`M60 18H${W - 12}M60 44H${W - 12}`} />
      {known.map((r, i) => <rect key={i} class={r.Head ? "head" : "base"} x={x(r.At)} y={r.Head ? 37 : 11} width={Math.max(4, x(r.At + r.DurationNS) - x(r.At))} height="14" rx="2"><title>{r.Name + ", " + seconds(r.DurationNS)}</title></rect>)}
      <text x="60" y="74">0</text><text x={W - 12} y="74" text-anchor="end">{seconds(end - start)} later</text>
    </svg></div>
  );
}

export function DataView({ meta, data }: { meta: Meta; data: Data }) {
  const runs = data.Runs ?? [];
  const machines = [...new Set(runs.map((r) => [r.Machine, r.Kernel && "Linux " + r.Kernel, r.Tool].filter(Boolean).join(", ")))];
  const commands = [...new Set(runs.map((r) => r.Command.replace(/ -o \S+/, " -o …")).filter(Boolean))];
  const events = runs[0]?.Events ?? [];
  const raw = async () => {
    const out: [string, unknown][] = [["meta", meta]];
    for (const name of meta.blocks) out.push([name, await block<unknown>(name)]);
    return "{\n" + out.map(([k, v]) => JSON.stringify(k) + ": " + JSON.stringify(v)).join(",\n") + "\n}\n";
  };
  return (
    <div>
      <p class="controls"><Download name={`profdiff-${meta.id}.json`} label="Download all data as JSON" data={raw} /><span class="dim">report {meta.id}, {meta.schema}, {meta.tool}</span></p>
      {meta.warnings.length > 0 ? <section><h2>Warnings</h2><ul>{meta.warnings.map((w, i) => <li key={i}><bdi>{w}</bdi></li>)}</ul></section> : null}
      {runs.length > 1 ? <section><h2>Order of recording</h2><Order runs={runs} /></section> : null}
      {runs.length > 0 ? <section>
        <h2>Runs</h2>
        <div class="wide"><table>{heads("Side|Run|Format|Started|>Duration|>Samples in|>= out|>+ filtered|+ dropped|>Lost|>Unknown frames" + events.map((e) => "|>" + e.Name.replace(/\|/g, "¦")).join(""))}<tbody>
          {runs.map((r, i) => <tr key={i}>
            <td>{r.Head ? "after" : "before"}</td><th scope="row"><bdi>{r.Name}</bdi></th><td>{r.Format}</td><td>{r.Start ? r.Start.replace("T", " ").replace(/\.(\d{3})\d*Z$/, ".$1Z") : ""}</td><td class="n">{r.DurationNS ? seconds(r.DurationNS) : ""}</td>
            <td class="n">{count(r.In)}</td><td class="n">{count(r.Out)}</td><td class="n">{count(r.Filtered)}</td><td>{(r.Dropped ?? []).map((d) => `${d.Name}: ${count(d.N)}`).join(", ") || "0"}</td><td class="n">{count(r.Lost)}</td><td class="n">{share(r.UnknownShare)}</td>
            {events.map((e) => { const own = (r.Events ?? []).find((x) => x.Name === e.Name); return <td class="n" key={e.Name}>{own ? weight(own.Weight, own.Unit) : "–"}</td>; })}
          </tr>)}
        </tbody></table></div>
      </section> : null}
      <section><h2>How it was made</h2><Facts list={[
        ...(machines.filter(Boolean).map((m): [string, string] => ["machine", m])), ...commands.map((c): [string, preact.ComponentChildren] => ["recorded by", <code>{c}</code>]),
        ...[...new Set(runs.flatMap((r) => (r.Builds ?? []).map((b) => (r.Head ? "after: " : "before: ") + b)))].map((b): [string, preact.ComponentChildren] => ["build ID", <code>{b}</code>]),
        ...(data.Facts ?? []).map((f): [string, string] => [f.Name, f.Text]),
        ...meta.events.map((e): [string, string] => ["tree of " + e.name, e.all_frames > e.frames ? `${count(e.all_frames)} frames merged to ${count(e.frames)} rows; left out are those below ${share(e.least)} of either side` : `${plural(e.frames, "frame")}, none left out`]),
        ...runs.filter((r) => r.Digest).map((r): [string, preact.ComponentChildren] => ["SHA-256", <span><bdi>{r.Name}</bdi> <code>{r.Digest}</code></span>]),
      ]} /></section>
    </div>
  );
}
