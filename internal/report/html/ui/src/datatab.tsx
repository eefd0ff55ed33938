// What the report rests on.

import { Button, Dim, Facts, Wide, block, count, h, leftOut, num, plural, reached, save, share, weight } from "./kit";
import type { Data, Meta, Run } from "./types";

type Fact = [string, preact.ComponentChildren];

const seconds = (ns: number) => weight(ns, "nanoseconds");

/** The runs on an axis of time: base above, head below. */
function Order({ runs }: { runs: Run[] }) {
  const known = runs.filter((r) => r.At > 0);
  if (known.length < 2 || known.length < runs.length) return <p class="dim">When the runs were recorded is not known of all.</p>;
  const start = Math.min(...known.map((r) => r.At)), end = Math.max(...known.map((r) => r.At + r.DurationNS));
  const W = 900, x = (t: number) => 60 + ((t - start) / (end - start || 1)) * (W - 80);
  return (
    <div class="wide" ref={reached}><svg width={W} height="78" viewBox={`0 0 ${W} 78`} role="img" aria-label={"Order of the runs: " + known.slice().sort((a, b) => a.At - b.At).map((r) => (r.Head ? "after" : "before")).join(", ")}>
      <text x="0" y="22">before</text><text x="0" y="48">after</text>
      <path class="axis" d={`M60 18H${W - 12}M60 44H${W - 12}`} />
      {known.map((r, i) => <rect key={i} class={r.Head ? "head" : "base"} x={x(r.At)} y={r.Head ? 37 : 11} width={Math.max(4, x(r.At + r.DurationNS) - x(r.At))} height="14" rx="2"><title>{r.Name + ", " + seconds(r.DurationNS)}</title></rect>)}
      <text x="60" y="74">0</text><text x={W - 12} y="74" text-anchor="end">{seconds(end - start)} later</text>
    </svg></div>
  );
}

export function DataView({ meta, data }: { meta: Meta; data: Data }) {
  const runs = data.Runs ?? [];
  const each = (name: string, texts: string[], code = false) => [...new Set(texts)].filter(Boolean).map((t): Fact => [name, code ? <code>{t}</code> : t]);
  const events = runs[0]?.Events ?? [], started = runs.some((r) => r.Start);
  const raw = async () => {
    const out: [string, unknown][] = [["meta", meta]];
    for (const name of meta.blocks) out.push([name, await block<unknown>(name)]);
    return "{\n" + out.map(([k, v]) => JSON.stringify(k) + ": " + JSON.stringify(v)).join(",\n") + "\n}\n";
  };
  return (
    <div>
      <p class="controls"><Button on={() => void raw().then((text) => save(`profdiff-${meta.id}.json`, "application/json", text))}>Download all data as JSON</Button><Dim>report {meta.id}, {meta.schema}, {meta.tool}</Dim></p>
      {meta.warnings.length > 0 ? <section><h2>Warnings</h2><ul>{meta.warnings.map((w, i) => <li key={i}><bdi>{w}</bdi></li>)}</ul></section> : null}
      {runs.length > 1 ? <section><h2>Order of recording</h2><Order runs={runs} /></section> : null}
      {runs.length > 0 ? <section>
        <h2>Runs</h2>
        <Wide labels={`Side|Run|Format${started ? "|Started" : ""}|>Duration|>Samples in|>= out|>+ filtered|>+ dropped|>Lost|>Unknown frames` + events.map((e) => "|>" + e.Name.replace(/\|/g, "¦")).join("")}>
          {runs.map((r, i) => <tr key={i}>
            <td>{r.Head ? "after" : "before"}</td><th scope="row"><bdi>{r.Name}</bdi></th><td>{r.Format}</td>{started ? <td>{r.Start.replace("T", " ").replace(/\.(\d{3})\d*Z$/, ".$1Z")}</td> : null}
            {[r.DurationNS ? seconds(r.DurationNS) : "–", count(r.In), count(r.Out), count(r.Filtered), (r.Dropped ?? []).map((d) => `${d.Name}: ${count(d.N)}`).join(", ") || "0", count(r.Lost), share(r.UnknownShare)].map((v) => num(v))}
            {events.map((e) => { const own = (r.Events ?? []).find((x) => x.Name === e.Name); return num(own ? weight(own.Weight, own.Unit) : "–"); })}
          </tr>)}
        </Wide>
      </section> : null}
      <section><h2>How it was made</h2><Facts list={[
        ...each("machine", runs.map((r) => [r.Machine, r.Kernel && "Linux " + r.Kernel, r.Tool].filter(Boolean).join(", "))),
        ...each("recorded by", runs.map((r) => r.Command.replace(/ -o \S+/, " -o …")), true),
        ...each("build ID", runs.flatMap((r) => (r.Builds ?? []).map((b) => (r.Head ? "after: " : "before: ") + b)), true),
        ...(data.Facts ?? []).map((f): Fact => [f.Name, f.Text]),
        ...meta.events.map((e): Fact => ["tree of " + e.name, leftOut(e) || plural(e.frames, "frame") + ", none left out"]),
        ...runs.filter((r) => r.Digest).map((r): Fact => ["SHA-256", <span><bdi>{r.Name}</bdi> <code>{r.Digest}</code></span>]),
      ]} /></section>
    </div>
  );
}
