// What a reader takes away: a link, text, pictures; and the keys.

import { byID } from "./data";
import { Button, Copy, Dim, h, save, useEffect, useRef } from "./kit";
import { type Cells, csv, escaped, markdown, tablesOf, tsv } from "./tabletext";
import type { Meta } from "./types";

/** A window over the page, which Esc closes. */
function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: preact.ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const from = document.activeElement as HTMLElement | null;
    ref.current!.showModal();
    return () => from?.focus();
  }, []);
  return (
    <dialog ref={ref} aria-labelledby="dialog" onClose={onClose} onClick={(e: MouseEvent) => { if (e.target === ref.current) ref.current!.close(); }}>
      <div><h2 id="dialog">{title}</h2>{children}<p><Button on={() => ref.current!.close()}>Close</Button></p></div>
    </dialog>
  );
}

const KEYS: [string, string][] = [
  ["/", "search"], ["?", "keys"], ["← →", "on a tab: its neighbors"],
  ["↑ ↓ PgUp PgDn Home End", "rows of a table; Enter opens one, ← → close and open parts of a tree"],
  ["Shift ← →", "on the head of a column: its width"],
  ["↑ ↓ ← →", "in a flame graph: callers, callees, neighbors"],
  ["Enter", "zooms in; Backspace goes one level out, Esc all"],
  ["n p", "next, previous decided change"], ["f s", "card of the function; callers and callees"],
];

export const Keys = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keys" onClose={onClose}><dl class="fact">{KEYS.map(([k, what]) => [<dt>{k.split(" ").map((x) => [<kbd>{x}</kbd>, " "])}</dt>, <dd>{what}</dd>])}</dl></Dialog>
);

/** What the flame graph in view gives for pictures. */
export type Pictures = HTMLElement & { svg?: () => string; png?: () => Promise<Blob> };

export function Share({ meta, what, view, onClose }: { meta: Meta; what: string; view: string; onClose: () => void }) {
  const panel = byID("panel")!, graph = panel.querySelector<Pictures>(".flame");
  const name = `profdiff-${meta.id}-${view}.`;
  const tables = (seen: boolean): Cells[] => tablesOf(panel, seen);
  const any = tables(true).length > 0;
  return (
    <Dialog title="Share this view" onClose={onClose}>
      <p><Copy label="Copy link to this view" text={() => location.href} /></p>
      {any ? <p><Copy label="Copy as Markdown" text={() => escaped(`${meta.title}, ${meta.base} → ${meta.head}${what}`) + "\n\n" + markdown(tables(true))} /></p> : null}
      {any ? <p><Copy label="Copy as TSV" text={() => tsv(tables(false))} /> <Button on={() => save(name + "csv", "text/csv", csv(tables(false)))}>Save as CSV</Button></p> : null}
      {graph?.svg ? <p><Button on={() => save(name + "svg", "image/svg+xml", graph.svg!())}>Save flame graph as SVG</Button> <Button on={() => void graph.png!().then((b) => save(name + "png", "image/png", b))}>as PNG</Button></p> : null}
      <p><Dim>A link leads here for whoever has this file at the same place.</Dim></p>
    </Dialog>
  );
}
