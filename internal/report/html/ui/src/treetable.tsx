// The call tree as a table: what the flame graph shows, for those who read with their
// ears or hands.

import { h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type EventData, GREW, ONLY_BASE, ONLY_HEAD, SHRANK, type Tree } from "./data";
import { cost, delta, points, share } from "./format";
import { type State, go } from "./state";
import { type Column, Table } from "./table";

export function TreeTable({ s, data, tree, zoom }: { s: State; data: EventData; tree: Tree; zoom: number }) {
  const e = data.meta;
  // Open at first: the widest path.
  const [open, setOpen] = useState<Set<number>>(() => {
    const set = new Set<number>([zoom]);
    for (let i = zoom, steps = 0; i + 1 < tree.end[i] && steps < 60; steps++) {
      set.add(i);
      i++; // children are in the order of their width
    }
    return set;
  });
  const rows = useMemo(() => {
    const list: number[] = [];
    for (let i = zoom; i < tree.end[zoom]; ) {
      list.push(i);
      i = open.has(i) ? i + 1 : tree.end[i];
    }
    return list;
  }, [tree, zoom, open]);
  const B = tree.totalBase[0] || 1, A = tree.totalHead[0] || 1, byShare = s.scale === "share";
  const show = (v: number, whole: number) => (byShare ? share(v / whole) : cost(e, v, 3));
  const columns: Column<number>[] = [
    { key: "name", label: s.dir === "up" ? "Function, and below it its callers" : "Function, and below it what it calls", width: "minmax(20em,1fr)", cell: (i) => <bdi class="name" title={data.label(tree.fn[i])}>{data.label(tree.fn[i])}</bdi> },
    { key: "base", label: "Before", width: "6em", numeric: true, cell: (i) => show(tree.totalBase[i], B) },
    { key: "head", label: "After", width: "6em", numeric: true, cell: (i) => show(tree.totalHead[i], A) },
    { key: "delta", label: "Δ", width: "7em", numeric: true, cell: (i) => (byShare ? points(tree.totalHead[i] / A - tree.totalBase[i] / B) : delta(e, tree.totalHead[i] - tree.totalBase[i], 3)) },
    { key: "selfBase", label: "Self before", width: "6em", numeric: true, cell: (i) => show(tree.selfBase[i], B) },
    { key: "selfHead", label: "Self after", width: "6em", numeric: true, cell: (i) => show(tree.selfHead[i], A) },
    {
      key: "state", label: "Change", width: "13em", cell: (i) => {
        const f = tree.flags[i];
        return <span class={f & GREW ? "regressed" : f & SHRANK ? "improved" : "dim"}>{f & GREW ? "▲ grew" : f & SHRANK ? "▼ shrank" : "not decided"}{f & ONLY_HEAD ? ", only after" : f & ONLY_BASE ? ", only before" : ""}</span>;
      },
    },
  ];
  return (
    <Table label={"Call tree of " + e.name} columns={columns} rows={rows} id={(i) => i} height="36rem"
      level={(i) => tree.level[i] - tree.level[zoom]} expanded={(i) => (tree.end[i] === i + 1 ? undefined : open.has(i))}
      onToggle={(i, on) => { const next = new Set(open); if (on) next.add(i); else next.delete(i); setOpen(next); }}
      onOpen={(i) => { const f = data.functions[tree.fn[i]]; if (f) go(s, { view: "function", fn: f.name, dso: f.dso }); }} />
  );
}
