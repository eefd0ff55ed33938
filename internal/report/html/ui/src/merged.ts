// Trees in which frames of a function are one: from the leaves up, and around a function.

import { type Fn, GREW, ONLY_BASE, ONLY_HEAD, SHRANK, Tree } from "./data";

/** What is below this share of the total on both sides is one row. */
const LEAST = 0.0002;
/** Of the cost of a frame: what callers leave of it is that of rounding. */
const LEAST_REST = 0.0005;

/** A frame that is looked at, and the one whose cost it is. */
type Item = { at: number; of: number };
type Node = { level: number; fn: number; base: number; head: number; flags: number; items: Item[] };
type Costs = { base: Float64Array; head: Float64Array };

const self = (t: Tree): Costs => ({ base: t.selfBase, head: t.selfHead });
const total = (t: Tree): Costs => ({ base: t.totalBase, head: t.totalHead });

/** Frames by their function, the widest first. Rows of smaller frames have no function in common. */
function group(t: Tree, items: Item[], costs: Costs, level: number): Node[] {
  const by = new Map<number, Node>();
  for (const it of items) {
    const fn = t.fn[it.at], key = fn < 0 ? -2 : fn;
    let node = by.get(key);
    if (!node) by.set(key, (node = { level, fn, base: 0, head: 0, flags: 0, items: [] }));
    else if (key === -2) node.fn += 1 + fn;
    node.base += costs.base[it.of];
    node.head += costs.head[it.of];
    node.items.push(it);
  }
  return [...by.values()].sort((a, b) => b.base + b.head - a.base - a.head || a.fn - b.fn);
}

/** The items below a node of a tree from the leaves up. */
const callersOf = (t: Tree) => (n: Node): Item[] => n.items.map((it) => ({ at: t.parent[it.at], of: it.of })).filter((it) => it.at > 0);

function calleesOf(t: Tree) {
  return (n: Node): Item[] => {
    const list: Item[] = [];
    for (const { at } of n.items) for (let c = at + 1; c < t.end[at]; c = t.end[c]) list.push({ at: c, of: c });
    return list;
  };
}

/** The tree below nodes that are the last first, after those that are out already. */
function grow(t: Tree, out: Node[], stack: Node[], below: (n: Node) => Item[], costs: Costs, least: number): Tree {
  const wholeBase = t.totalBase[0] || 1, wholeHead = t.totalHead[0] || 1;
  while (stack.length > 0) {
    const node = stack.pop()!, { base, head, level, fn } = node;
    const small = Math.max(base / wholeBase, head / wholeHead) < LEAST;
    const children = small || fn < 0 ? [] : group(t, below(node), costs, level + 1);
    const flags = node.flags | (base === 0 && head > 0 ? ONLY_HEAD : head === 0 && base > 0 ? ONLY_BASE : 0);
    // From here on the costs are those that no child has.
    const own = (side: "base" | "head") => {
      const rest = children.reduce((sum, c) => sum - c[side], node[side]);
      return rest > least * node[side] ? rest : 0;
    };
    out.push({ level, fn, base: own("base"), head: own("head"), flags, items: [] });
    stack.push(...children.reverse());
  }
  return new Tree(Int32Array.from(out, (n) => n.level), Int32Array.from(out, (n) => n.fn), Float64Array.from(out, (n) => n.base), Float64Array.from(out, (n) => n.head), Uint8Array.from(out, (n) => n.flags));
}

const flagsOf = (verdict: string) => (verdict === "regressed" ? GREW : verdict === "improved" ? SHRANK : 0);

/** The tree from the leaves up: the children of a frame are its callers. */
export function invert(t: Tree, functions: Fn[]): Tree {
  const items: Item[] = [];
  for (let i = 1; i < t.size; i++) if (t.selfBase[i] !== 0 || t.selfHead[i] !== 0) items.push({ at: i, of: i });
  // The first row is what was tested: all of the self cost of a function, with that of
  // frames which were left out.
  const found = new Map(group(t, items, self(t), 1).map((n) => [n.fn, n.items]));
  const stack: Node[] = [];
  for (const f of functions) {
    if (f.self.base !== 0 || f.self.head !== 0) stack.push({ items: found.get(f.id) ?? [], level: 1, fn: f.id, base: f.self.base, head: f.self.head, flags: flagsOf(f.self.verdict) });
  }
  stack.sort((a, b) => a.base + a.head - b.base - b.head || b.fn - a.fn);
  return grow(t, [{ level: 0, fn: -1, base: t.selfBase[0], head: t.selfHead[0], flags: t.flags[0], items: [] }], stack, callersOf(t), self(t), LEAST_REST);
}

/** What calls a function, and what it calls, over all of its calls. Of a recursive function the outermost call counts. */
export function around(t: Tree, f: Fn): { callers: Tree; callees: Tree } {
  const items: Item[] = [];
  for (let i = 1; i < t.size; ) {
    if (t.fn[i] === f.id) items.push({ at: i, of: i });
    i = t.fn[i] === f.id ? t.end[i] : i + 1;
  }
  const root = (): Node => ({ level: 0, fn: f.id, base: f.total.base, head: f.total.head, flags: flagsOf(f.total.verdict), items });
  return { callers: grow(t, [], [root()], callersOf(t), total(t), LEAST_REST), callees: grow(t, [], [root()], calleesOf(t), total(t), 1e-9) };
}
