// The call tree as a table: what the flame graph shows, for those who read with their
// ears or hands.

import { h } from "preact";
import { useMemo, useState } from "preact/hooks";
import { cost, delta, points, share } from "./format";
import type { Layout } from "./layout";
import { elide } from "./names";
import { type State, openCard } from "./state";
import { type Column, Table } from "./table";

export function TreeTable({ s, layout, zoom }: { s: State; layout: Layout; zoom: number }) {
  const { data, tree, byShare, up } = layout, e = data.meta;
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
  const B = tree.totalBase[0] || 1, A = tree.totalHead[0] || 1;
  const number = (key: string, label: string, of: Float64Array, whole: number): Column<number> => ({ key, label, width: "6em", numeric: true, value: (i) => of[i], cell: (i) => (byShare ? share(of[i] / whole) : cost(e, of[i], 3)) });
  const columns: Column<number>[] = [
    { key: "name", label: "Function, and below it " + (up ? "its callers" : "what it calls"), width: "minmax(24em,1fr)", small: "", cell: (i, room) => <bdi class="name" title={data.label(tree.fn[i])}>{elide(data.label(tree.fn[i]), Math.max(12, room))}</bdi>, value: (i) => data.label(tree.fn[i]) },
    number("base", "Before", tree.totalBase, B), number("head", "After", tree.totalHead, A),
    { key: "delta", label: "Δ", width: "7em", numeric: true, small: "", value: layout.delta.bind(layout), cell: (i) => (byShare ? points : (d: number) => delta(e, d, 3))(layout.delta(i)) },
    // Bottom-up all is self cost, that of the first row.
    ...(up ? [] : [number("selfBase", "Self before", tree.selfBase, B), number("selfHead", "Self after", tree.selfHead, A)]),
    { key: "said", label: "Change", width: "20em", small: " whole", value: layout.said.bind(layout), cell: (i) => <span class={layout.decided(i) || "dim"} title={layout.said(i)}>{layout.said(i)}</span> },
  ];
  return (
    <Table label={"Call tree of " + e.name} columns={columns} rows={rows} id={(i) => i}
      level={(i) => tree.level[i] - tree.level[zoom]} expanded={(i) => (tree.end[i] === i + 1 ? undefined : open.has(i))}
      onToggle={(i, on) => { const next = new Set(open); if (on) next.add(i); else next.delete(i); setOpen(next); }}
      onOpen={(i) => openCard(s, data.functions[tree.fn[i]])} />
  );
}
