// The explorer behind the first screen.

import { Fragment, h, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { BranchView } from "./branches";
import { Card, useBlock } from "./card";
import type { Code } from "./code";
import { type EventData, byID, loadEvent, readMeta } from "./data";
import type { DataView } from "./datatab";
import { Flame } from "./flame";
import { Functions } from "./functions";
import { Groups } from "./groups";
import * as kit from "./kit";
import type { OffCPU } from "./offcpu";
import { None } from "./parts";
import type { PipelineView } from "./pipeline";
import { inner, isClosed } from "./search";
import type { Keys, Share } from "./share";
import type { SourceView } from "./source";
import { type State, begin, go, parse } from "./state";
import type { TimesView } from "./times";
import type { Branches, Data, Meta, Pipeline } from "./types";

// What other scripts add, if the page has them.
const shared: typeof kit & Partial<{ data: typeof DataView; keys: typeof Keys; sharing: typeof Share; branches: typeof BranchView; offcpu: typeof OffCPU; pipeline: typeof PipelineView; code: typeof Code; source: typeof SourceView; times: typeof TimesView }> = { ...kit };
Object.assign(globalThis, { profdiff: shared });

function tabs(meta: Meta, s: State) {
  const events = meta.events.length > 0, has = (name: string) => meta.blocks.includes(name);
  const all: [string, string, boolean][] = [
    ["functions", "Functions", events], ["flame", "Flame graph", events], ["times", "Over time", /times/.test(meta.blocks.join())], ["function", "Function", s.fn !== "" && events], ["source", "Source", events && has("sources")], ["groups", "Threads and categories", events],
    ["branches", "Branches", has("branches")], ["pipeline", "Pipeline", has("pipeline")], ["offcpu", "Off-CPU", meta.events.some((e) => e.off_cpu)], ["data", "Data", has("data")],
  ];
  return all.filter((t) => t[2]);
}

const root = document.documentElement.dataset;

function App({ meta }: { meta: Meta }) {
  const [s, setState] = useState<State>(() => parse(location.hash));
  const list = tabs(meta, s);
  const view = list.some((t) => t[0] === s.view) ? s.view : (list[0]?.[0] ?? "");
  const offCPU = meta.events.findIndex((e) => e.off_cpu);
  const index = view === "offcpu" ? offCPU : Math.min(s.event, meta.events.length - 1);
  const [data, setData] = useState<EventData>();
  const [failed, setFailed] = useState("");
  useEffect(() => {
    const changed = () => setState(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  useEffect(() => {
    if (index < 0) return ready();
    let live = true;
    loadEvent(meta, index).then((d) => live && setData(d), (e: Error) => live && setFailed(e.message));
    return () => { live = false; };
  }, [index]);
  useEffect(() => {
    if (s.theme === "") delete root.theme;
    else root.theme = s.theme;
    // Canvases read their colors from the style.
    dispatchEvent(new Event("resize"));
  }, [s.theme]);
  useEffect(() => { if (data || failed) ready(); }, [data, failed]);
  const [open, setOpen] = useState("");
  useEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).closest?.("input:not([type=radio],[type=checkbox]), select, textarea, dialog")) return;
      const box = byID("search");
      if (e.key === "/" && box) box.focus();
      else if (e.key === "?") setOpen("keys");
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
  const close = () => setOpen("");
  // A link leads to what it is about; without one the verdict comes first.
  const target = s.fn !== "" || s.frame > 0 ? s.view + "\0" + s.fn + "\0" + s.dso + "\0" + s.report : "";
  useEffect(() => {
    const el = byID("app")!;
    if (target !== "" && el.getBoundingClientRect().top > innerHeight * 0.6) el.scrollIntoView();
  }, [target]);
  const own = data && data.index === index ? data : undefined;
  const dark = s.theme === "dark" || (s.theme === "" && matchMedia("(prefers-color-scheme: dark)").matches);
  const search = !/^(function|source|data)$/.test(view), re = s.re || isClosed(s.q);
  return (
    <Fragment>
      <div class="bar-top">
        <div class="tabs" role="tablist" aria-label="Details" onKeyDown={(e: KeyboardEvent) => {
          const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
          if (step === 0) return;
          const [next] = list[(list.findIndex((t) => t[0] === view) + step + list.length) % list.length];
          go(s, { view: next });
          byID("tab-" + next)?.focus();
          e.preventDefault();
        }}>
          {list.map(([key, label]) => <button key={key} id={"tab-" + key} type="button" role="tab" aria-selected={key === view} aria-controls="panel" tabIndex={key === view ? 0 : -1} onClick={() => go(s, { view: key })}>{label}</button>)}
        </div>
        <div class="tools">
          {meta.events.length > 1 && !/^(branches|pipeline|offcpu|data)$/.test(view) ? (
            <label><span class="vh">Event</span><select value={String(index)} onChange={(e: Event) => go(s, { event: Number((e.target as HTMLSelectElement).value), frame: 0, report: "" })}>{meta.events.map((e, i) => <option key={i} value={String(i)}>{e.name}</option>)}</select></label>
          ) : null}
          {search ? <span class="search">
            <label><span class="vh">Search names</span><input id="search" type="search" placeholder="Search names" value={s.q} onInput={(e: Event) => go(s, { q: (e.target as HTMLInputElement).value }, true)} /></label>
            <button type="button" class="button" aria-pressed={re} title="Regular expression" onClick={() => go(s, isClosed(s.q) ? { q: inner(s.q), re: false } : { re: !s.re }, true)}><span aria-hidden="true">.*</span><span class="vh">Regular expression</span></button>
          </span> : null}
          <button type="button" class="button" aria-haspopup="dialog" onClick={() => setOpen("share")}>Share</button>
          <button type="button" class="button" aria-haspopup="dialog" title="Keys" onClick={() => setOpen("keys")}><span aria-hidden="true">?</span><span class="vh">Keys</span></button>
          <button type="button" class="button" aria-pressed={dark} onClick={() => go(s, { theme: dark ? "light" : "dark" }, true)}>{dark ? "☾" : "☀"}<span class="vh"> Dark</span></button>
        </div>
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby={"tab-" + view}>
        {s.view !== "" && s.view !== view ? <p class="error">The link leads to “{s.view}”, which this page does not have.</p> : null}
        {failed ? <p class="error">The data of this page cannot be read: {failed}</p>
          : view === "branches" || view === "pipeline" ? <BlockOf<Branches & Pipeline> key={view} meta={meta} name={view} show={(block) => shared[view] ? h<{ s: State; block: Branches & Pipeline }>(shared[view], { s, block }) : null} />
          : view === "data" ? <BlockOf<Data> meta={meta} name="data" show={(data) => h(shared.data!, { meta, data })} />
          : !own ? wait()
          : view === "functions" ? <Functions s={s} data={own} />
          : (view === "times" || (view === "flame" && s.span)) && shared.times ? h(shared.times, { s, data: own, meta })
          : view === "flame" ? <Flame key={String(own.index)} s={s} data={own} meta={meta} />
          : view === "function" ? <Card s={s} data={own} meta={meta} code={shared.code} />
          : view === "source" && shared.source ? h(shared.source, { s, data: own, meta })
          : view === "groups" ? <Groups s={s} data={own} />
          : view === "offcpu" && shared.offcpu ? h(shared.offcpu, { s, data: own, meta }) : null}
      </div>
      {open === "keys" ? h(shared.keys!, { onClose: close }) : open === "share" ? h(shared.sharing!, { meta, view, what: index >= 0 ? ", " + meta.events[index].name : "", onClose: close }) : null}
    </Fragment>
  );
}

function BlockOf<T>({ meta, name, show }: { meta: Meta; name: string; show: (v: T) => preact.ComponentChildren }) {
  const v = useBlock<T>(meta, name);
  return <Fragment>{v === undefined ? wait() : show(v)}</Fragment>;
}

const wait = () => <None>Reading…</None>;

function ready() {
  requestAnimationFrame(() => requestAnimationFrame(() => { root.ready ??= String(Math.round(performance.now())); }));
}

// Scripts that follow this one have run then.
document.addEventListener("DOMContentLoaded", () => {
  const app = byID("app");
  if (!app) return;
  if (typeof DecompressionStream === "undefined") {
    app.textContent = "Tables and graphs need Chrome 94, Firefox 113 or Safari 16.4.";
    ready();
  } else {
    const meta = readMeta();
    begin(meta.main ?? 0);
    render(<App meta={meta} />, app);
  }
});
