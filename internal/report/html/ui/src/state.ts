// What is shown is in the fragment of the address, so that links and the back button
// work.

export type State = {
  view: string; fn: string; dso: string; event: number; frame: number; report: string;
  /** What is searched, and whether it is a regular expression. */
  q: string; re: boolean;
  mode: "diff" | "before" | "after"; scale: "absolute" | "share"; dir: "down" | "up" | "both"; color: "change" | "module" | "thread";
  tree: boolean; only: boolean; theme: string;
  /** How tables are sorted that are not as they were at first: see sortOf. */
  sort: string;
  /** The part of the time whose frames are shown, as the view of it writes it; all of it if empty. */
  span: string;
  /** The line of the source that is shown: b12 before, h12 after. */
  line: string;
};

// The event that is shown where the address names none.
let main = 0;

/** Says which event the page is about. */
export function begin(event: number) { main = event; }

export function parse(hash: string): State {
  const p = new URLSearchParams(hash.replace(/^#/, "").replace(/\+/g, "%2B"));
  const one = <T extends string>(key: string, all: readonly T[]): T => all.find((x) => x === p.get(key)) ?? all[0];
  const text = (key: string) => p.get(key) ?? "";
  const number = (key: string) => Math.max(0, Math.floor(Number(p.get(key)) || 0));
  return {
    view: p.get("view") ?? (p.has("function") ? "function" : ""), fn: text("function"), dso: text("dso"),
    event: p.has("event") ? number("event") : main, frame: number("frame"), report: text("report"), q: text("q"), re: p.has("re"),
    mode: one("mode", ["diff", "before", "after"] as const), scale: one("scale", ["absolute", "share"] as const), dir: one("dir", ["down", "up", "both"] as const),
    color: one("color", ["change", "module", "thread"] as const), sort: text("sort"),
    tree: p.get("as") === "table", only: p.get("only") === "decided", theme: one("theme", ["", "light", "dark"] as const),
    span: text("span"), line: /^[bh]\d+$/.exec(text("line"))?.[0] ?? "",
  };
}

export function format(s: State): string {
  const parts: string[] = [];
  const add = (key: string, value: string, initial = "") => { if (value !== initial) parts.push(key + "=" + encodeURIComponent(value)); };
  add("view", s.view, s.fn === "" ? "" : "function");
  add("function", s.fn);
  add("dso", s.dso);
  add("event", String(s.event), String(main));
  if (s.frame > 0) {
    add("frame", String(s.frame));
    add("report", s.report);
  }
  add("q", s.q);
  if (s.re) add("re", "1");
  add("mode", s.mode, "diff");
  add("scale", s.scale, "absolute");
  add("dir", s.dir, "down");
  add("color", s.color, "change");
  if (s.tree) add("as", "table");
  if (s.only) add("only", "decided");
  add("span", s.span);
  add("sort", s.sort);
  add("line", s.line);
  add("theme", s.theme);
  return "#" + parts.join("&");
}

/** Goes to another state; replace keeps the history as it is. */
export function go(s: State, change: Partial<State>, replace = false) {
  const next = format({ ...s, ...change });
  if (next === location.hash || (next === "#" && location.hash === "")) return;
  if (replace) {
    history.replaceState(null, "", next);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = next;
}

type Named = { name: string; dso: string };

/** What shows the card of a function. */
export const cardOf = (f: Named): Partial<State> => ({ view: "function", fn: f.name, dso: f.dso, line: "" });

export function openCard(s: State, f: Named | undefined) {
  if (f) go(s, cardOf(f));
}

/** What shows a frame of the tree. */
export const frameOf = (frame: number, report: string): Partial<State> => ({ view: "flame", frame, report, dir: "down", tree: false });

/** What shows callers and callees of a function with what they call. */
export const bothOf = (f: Named): Partial<State> => ({ view: "flame", fn: f.name, dso: f.dso, dir: "both", tree: false });

export type Sort = { key: string; ascending: boolean };

const sorts = (s: State) => new Map(s.sort.split("~").filter(Boolean).map((x) => x.split(".") as [string, string]));

/** How a table is sorted: by a column, from its least or, with - in front, from its greatest. */
export function sortOf(s: State, table: string, initial = ""): Sort {
  const by = sorts(s).get(table) ?? initial;
  return { key: by.replace("-", ""), ascending: by[0] !== "-" };
}

/** Sorts a table by a column, or turns its order; least says whether the least comes first. */
export function sortBy(s: State, table: string, key: string, least: boolean, initial = "") {
  const now = sortOf(s, table, initial), all = sorts(s);
  const next = ((now.key === key ? !now.ascending : least) ? "" : "-") + key;
  if (next === initial) all.delete(table);
  else all.set(table, next);
  go(s, { sort: [...all].map((x) => x.join(".")).join("~") });
}
