// Numbers, written as the first screen writes them: see format.go.

import type { Change, EventMeta } from "./types";

const THIN = "\u202f";
const COUNTS: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const TIMES: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES: [number, string][] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];

export const minus = (s: string) => s.replace(/-/g, "−");

/** Rounds halves to even, as the first screen does. */
const even = (v: number, n: number, f: "toFixed" | "toPrecision" = "toFixed"): string => {
  const s = v[f](n), t = (v * (1 - 2 ** -52))[f](n);
  return s !== t && /[13579]$/.test(s) ? t : s;
};

export function digits(v: number, n = 4): string {
  v = Number(even(v, n, "toPrecision"));
  const a = Math.abs(v);
  const places = a >= 1000 ? 0 : a >= 100 ? Math.max(0, n - 3) : a >= 10 ? n - 2 : n - 1;
  return minus(v.toFixed(places));
}

export function weight(v: number, unit: string, n = 4): string {
  const units = unit === "nanoseconds" ? TIMES : unit === "bytes" ? BYTES : COUNTS;
  const u = units.find((x) => Math.abs(v) >= x[0]) ?? units[units.length - 1];
  // A time that happens to be whole is no count, and of an operation there may be few counts.
  const s = v === 0 || (!u[1] && Number.isInteger(v)) ? minus(String(v)) : !u[1] && n < 4 && Math.abs(v) < 1 ? minus(String(+v.toPrecision(n))) : digits(v / u[0], n);
  return u[1] ? s + THIN + u[1] : s;
}

export const share = (v: number) => (isFinite(v) ? minus(even(100 * v, 2)) + THIN + "%" : "–");

export function cost(e: EventMeta, v: number, n = 4): string {
  return e.share ? share(v) : weight(v, e.unit, n);
}

export function delta(e: EventMeta, v: number, n = 4): string {
  const s = e.share ? points(v) : weight(v, e.unit, n);
  return v > 0 && !s.startsWith("+") ? "+" + s : s;
}

export const points = (v: number) => (v > 0 ? "+" : "") + minus(even(100 * v, 2)) + THIN + "pp";

/** A ratio as a relative change, without the sign of percent. */
export function percent(ratio: number | null): string {
  if (ratio === null) return "∞";
  if (Number.isNaN(ratio)) return "–";
  const p = 100 * (ratio - 1);
  if (!isFinite(p)) return "∞";
  if (p >= 1000) return "×" + Number(ratio.toPrecision(3));
  const s = Math.abs(p) >= 99.95 ? String(Math.round(p)) : even(p, 1);
  if (s === "-0.0" || s === "0.0") return "0.0";
  return p > 0 ? "+" + s : minus(s);
}

export function relative(c: { base: number; head: number; ratio: number | null }): string {
  if (c.base === 0 && c.head > 0) return "new";
  if (c.head === 0 && c.base > 0) return "gone";
  const s = percent(c.ratio ?? c.head / c.base);
  return /[–∞×]/.test(s) ? s : s + THIN + "%";
}

export const known = (c: Change) => c.lo !== null && (c.lo > 0 || c.hi !== null);

export const interval = (c: Change) => (known(c) ? "[" + percent(c.lo) + ", " + percent(c.hi) + "]" : "");

export const count = (n: number) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

export const plural = (n: number, what: string, many = what + "s") => count(n) + " " + (n === 1 ? what : many);

/** What verdicts look like, and are called of time and of amounts: see verdict/word.go. */
export const MARKS: Record<string, [string, string, string?]> = {
  regressed: ["▲", "slower", "more"], improved: ["▼", "faster", "less"], unchanged: ["=", "same"], inconclusive: ["?", "can't tell yet"], "": ["", "not tested"],
};

export const word = (e: EventMeta, verdict: string) => (e.amount && MARKS[verdict]?.[2]) || (MARKS[verdict]?.[1] ?? verdict);

export const pValue = (p: number) => (p < 0.001 ? "<.001" : p >= 0.9995 ? "1" : p.toFixed(3).slice(1));

export const samples = (c: Change) => count(c.base_samples) + " → " + count(c.head_samples);

/** What shares are parts of. */
export const wholeOf = (e: EventMeta): { base: number; head: number } => (e.share ? { base: 1, head: 1 } : e.total);

/** Both shares of a cost. */
export const shares = (c: { base: number; head: number }, whole: { base: number; head: number }) => share(c.base / whole.base) + " → " + share(c.head / whole.head);

/** What was left out of a tree, if anything was. */
export const leftOut = (e: EventMeta) => (e.all_frames > e.frames ? `${count(e.all_frames)} frames were merged to ${count(e.frames)} rows: those left out are below ${share(e.least)} of either side and stand as “smaller frames” with exact sums.` : "");
