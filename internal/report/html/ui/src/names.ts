// Names of functions in the room that there is: the twin of report/text/elide.go, which says
// what is left out in what order. Both are tested by the same table.

const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NONE = /[\p{M}\u200b-\u200f\ufe00-\ufe0f]/u;
const PLAIN = /^[ -~…]*$/;

const widthOf = (c: string) => (WIDE.test(c) ? 2 : NONE.test(c) ? 0 : 1);

/** The number of columns that a text takes in letters of one width. */
const width = (s: string) => (PLAIN.test(s) ? s.length : [...s].reduce((sum, c) => sum + widthOf(c), 0));

/** The start and the end of a text, with … between them. */
export function cut(s: string, room: number): string {
  if (width(s) <= room) return s;
  if (room <= 1) return room === 1 ? "…" : "";
  const all = [...s], start = room >> 1;
  let i = 0, k = 0;
  for (let w = start; i < all.length && (w -= widthOf(all[i])) >= 0; ) i++;
  while (NONE.test(all[i])) i++;
  for (let w = width(s) - (room - 1 - start); k < all.length && w > 0; ) w -= widthOf(all[k++]);
  while (NONE.test(all[k])) k++;
  return all.slice(0, i).join("") + "…" + all.slice(k).join("");
}

type Part = { text: string; divider: string };
type Name = { before: string; parts: Part[]; after: string; cut: number; headless: boolean };
type Group = { start: number; end: number; depth: number };

function string(n: Name): string {
  const shown = n.parts.map((p, i) => {
    if (i === 0 && !n.headless) return p.text + (n.cut === 0 || p.divider !== "." ? p.divider : "");
    return i > n.cut ? p.text + p.divider : i === n.cut ? "…" + (p.divider !== "." ? p.divider : "") : "";
  });
  return n.before + shown.join("") + n.after;
}

const ATTACHED = /^(\{.*\}.*|'lambda.*|\$_\d*.*|(func|gowrap|deferwrap)?\d+(-fm)?|part|isra|constprop|cold|lto_priv|llvm|localalias|so|c|cc|cpp|h|hpp|rs|go|js|mjs|ts|py|kt|java|dex|jar|apk|oat|odex|vdex)$/;

function attached(n: Name, i: number): boolean {
  const p = n.parts[i].text, before = n.parts[i - 1];
  if (p.startsWith("operator()")) return ATTACHED.test(before.text);
  return before.divider === "@" || (ATTACHED.test(p) && !p.startsWith("{impl#"));
}

/** The part that names the method. */
function method(n: Name): number {
  let i = n.parts.length - 1;
  while (i > 0 && attached(n, i)) i--;
  return i;
}

/** The length of the name of an operator that begins at i. */
function operator(s: string, i: number): number {
  if (!s.startsWith("operator", i) || /[_a-zA-Z]/.test(s[i - 1] ?? "")) return 0;
  const m = /^(<=>|<<=|>>=|->\*|\(\)|\[\]|<<|>>|<=|>=|->|<|>|[-+*/%^&|~!=,]+|(?= ))/.exec(s.slice(i + 8, i + 24));
  return m ? 8 + m[0].length : 0;
}

const OPENING: Record<string, string> = { ")": "(", ">": "<", "]": "[", "}": "{" };

/** What brackets enclose: none, if they do not match. */
function groups(s: string): Group[] {
  const list: Group[] = [], open: Group[] = [];
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (c === "o") {
      const n = operator(s, i);
      if (n > 0) i += n - 1;
    } else if ("(<[{".includes(c)) {
      const g = { start: i, end: 0, depth: open.length };
      list.push(g);
      open.push(g);
    } else if (")>]}".includes(c)) {
      if (c === ">" && /[-=]/.test(s[i - 1] ?? "")) continue; // an arrow
      const g = open.pop();
      if (!g || s[g.start] !== OPENING[c]) return [];
      g.end = i + 1;
    }
  }
  return open.length > 0 ? [] : list;
}

function ofOperator(s: string, start: number): boolean {
  const from = Math.max(0, start - 12), i = s.slice(from, start).lastIndexOf("operator");
  return i >= 0 && from + i + operator(s, from + i) === s.slice(0, start).replace(/ $/, "").length;
}

const behindName = (s: string, g: Group) => g.start > 0 && (/[_>\])}'~$0-9a-zA-Z\u0080-\uffff]/.test(s[g.start - 1]) || ofOperator(s, g.start));

const elidable = (s: string, g: Group, open: string) => (s[g.start] === open || (open === "<" && s[g.start] === "[")) && width(s.slice(g.start + 1, g.end - 1)) > 1 && behindName(s, g);

/** Puts text for groups of a depth that are arguments. */
function replace(s: string, open: string, depth: number, text: string): string {
  let out = "", at = 0;
  for (const g of groups(s)) {
    if (g.start < at || g.depth < depth || !elidable(s, g, open)) continue;
    out += s.slice(at, g.start) + (s[g.start] === "[" ? "[…]" : text);
    at = g.end;
  }
  return out + s.slice(at);
}

function each(n: Name, change: (p: string) => string): boolean {
  let changed = false;
  for (const p of n.parts) {
    const was = p.text;
    changed = (p.text = change(was)) !== was || changed;
  }
  return changed;
}

const noArguments = (p: string) => {
  p = p.replace(/\(…\)$/, "");
  return p.endsWith("operator()") ? p : p.replace(/\(\)$/, "");
};

/** Leaves out the parts in front of the one at i, and what stands for them. */
function drop(n: Name, i: number): boolean {
  if (i <= 0) return false;
  Object.assign(n, { parts: n.parts.slice(i), cut: 0, headless: false });
  return true;
}

function dropLast(n: Name): boolean {
  n.parts.pop();
  n.parts[n.parts.length - 1].divider = "";
  return true;
}

/** Each shortens a name a little, and says whether it did. */
const STEPS: ((n: Name) => boolean)[] = [
  // The hash that Rust appends.
  (n) => n.parts.length > 1 && /^h[0-9a-f]{16}$/.test(n.parts[n.parts.length - 1].text) && dropLast(n),
  // Folders.
  (n) => {
    const i = n.after.indexOf("/");
    if (i < 0 || n.after.slice(0, i).endsWith("…")) return false;
    n.after = n.after[0] + "…" + n.after.slice(n.after.lastIndexOf("/"));
    return true;
  },
  // Arguments.
  (n) => {
    if (each(n, (p) => replace(p, "(", 0, "(…)"))) return true;
    const had = n.before !== "";
    n.before = "";
    return had;
  },
  // The innermost arguments of templates.
  (n) => {
    const deepest = Math.max(0, ...n.parts.flatMap((p) => groups(p.text).filter((g) => elidable(p.text, g, "<")).map((g) => g.depth)));
    return each(n, (p) => replace(p, "<", Math.min(deepest, 8), "<…>"));
  },
  // What stands for arguments, and what follows them.
  (n) => {
    const p = n.parts[n.parts.length - 1], was = p.text, had = n.after !== "";
    p.text = noArguments(was);
    n.after = "";
    return had || p.text !== was;
  },
  // The next part of the middle of the path, or the first one.
  (n) => {
    const c = method(n) - 1, inPackage = n.cut + 1 < c && n.parts[0].divider === "/" && n.parts[n.cut + 1].divider === ".";
    if (n.cut < c - 1 && (!inPackage || n.headless)) n.cut = Math.max(n.cut + 1, c - 33);
    else if (n.cut < c && !n.headless) n.headless = true;
    else return false;
    return true;
  },
  // The paths of types in <Type as Trait>.
  (n) => each(n, (p) => (p[0] !== "<" ? p : "<" + p.slice(1).split(" ").map((w) => {
    const j = w.lastIndexOf("::");
    return j > 0 && w.slice(0, j) !== "…" ? "…" + w.slice(j) : w;
  }).join(" "))),
  // What stands for arguments of templates.
  (n) => each(n, (p) => p.replace(/ <…>|<…>|\[…\]/g, "")),
  // That it is a closure's operator that is called.
  (n) => {
    const last = n.parts.length - 1;
    return last > 0 && last !== method(n) && n.parts[last].text.startsWith("operator()") && dropLast(n);
  },
  // What stands for paths in front of classes.
  (n) => drop(n, method(n) - 1) || each(n, (p) => p.replaceAll("…::", "")),
  // What a class of Java is nested in.
  (n) => {
    const c = n.parts[method(n) - 1], m = c && !c.text.startsWith("…") && /^.+(\$[a-zA-Z].*)$/.exec(c.text);
    if (m) c.text = "…" + m[1];
    return !!m;
  },
  // The class.
  (n) => {
    const m = method(n);
    if (m === 0 || (n.cut === m - 1 && n.headless)) return false;
    n.cut = m - 1;
    n.headless = true;
    return true;
  },
  (n) => drop(n, method(n)),
];

/** The parts of a name. Brackets that do not match divide nothing. */
function parse(s: string): Name {
  const mark = /^([A-Z][A-Za-z]+:[*~^]?|py::)/.exec(s)?.[0];
  if (mark && s[mark.length] !== ":" && mark.length < s.length) {
    const n = parse(s.slice(mark.length));
    n.before = mark + n.before;
    return n;
  }
  const spaces: number[] = [], dividers: number[] = [], list = groups(s);
  let args = -1, convert = false, k = 0;
  for (let i = 0; i < s.length; i++) {
    const g = list[k], c = s[i];
    if (g?.start === i) {
      if (c === "(" && behindName(s, g) && args < 0) args = i;
      convert &&= c !== "(";
      while (list[k]?.start < g.end) k++;
      i = g.end - 1;
      continue;
    }
    const o = operator(s, i);
    if (o > 0) {
      i += o - 1;
      convert = s[i + 1] === " ";
    } else if (convert) continue;
    else if (c === " " || (c === ":" && i > 0 && s[i + 1] === "/")) spaces.push(i);
    else if (c === "/" || c === "." || c === "@") dividers.push(i);
    else if (s.startsWith("::", i)) dividers.push(i++);
  }
  // Without what it returns, and what follows it.
  let start = 0, end = s.length;
  for (const i of spaces) {
    if (args >= 0 && i < args) start = i + 1;
    else if ((args >= 0 && i > args) || (i > start && /^(\/|\[|\(|file:|http:|https:|node:)/.test(s.slice(i + 1, i + 8)))) {
      end = i;
      break;
    }
  }
  const n: Name = { before: s.slice(0, start), parts: [], after: s.slice(end), cut: 0, headless: false };
  const inside = dividers.filter((i) => i >= start && i < end);
  const colons = inside.some((i) => s[i] === ":"), slash = Math.max(-1, ...inside.filter((i) => s[i] === "/")), files = end > start && /[/.~]/.test(s[start]);
  let at = start;
  for (const i of inside) {
    const c = s[i], w = c === ":" ? 2 : 1;
    if (i < at) continue;
    if (c !== ":") {
      if (i === at || i + 1 === end) continue;
      if (c !== "@" && (colons || (c === "." && (i < slash || files || s[i + 1] === ".")))) continue;
    }
    n.parts.push({ text: s.slice(at, i), divider: s.slice(i, i + w) });
    at = i + w;
  }
  n.parts.push({ text: s.slice(at, end), divider: "" });
  return n;
}

function shortened(name: string, room: number): string {
  const n = parse(name);
  for (const step of STEPS) while (step(n)) {
    const s = string(n);
    if (width(s) <= room) return s;
  }
  const m = method(n);
  if (m + 1 < n.parts.length) {
    const own = noArguments(n.parts[m].text);
    if (n.parts[m].divider === "::" || width(own) < room) return cut(own, room - 1) + cut("…", room);
  }
  return cut(string(n), room);
}

const known = new Map<string, string>();

/** A name that is at most room letters wide. */
export function elide(name: string, room: number): string {
  if (width(name) <= room) return name;
  const key = room + " " + name;
  let s = known.get(key);
  if (s === undefined) {
    if (known.size > 20000) known.clear();
    known.set(key, (s = shortened(name, room)));
  }
  return s;
}
