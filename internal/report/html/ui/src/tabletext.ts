// Tables as text, for mails, reviews and spreadsheets.

/** A table as it is read: the labels of columns, those of numbers, and cells. */
export type Cells = { title: string; heads: string[]; numeric: boolean[]; rows: string[][]; left?: number };

/** A table of many rows keeps few in the document; it gives all of them itself. */
export type Source = HTMLElement & { cells?: (seen: boolean) => Cells };

const clean = (s: string) => s.replace(/\s+/g, " ").trim();

/** Columns without text are pictures. */
export function withoutPictures(t: Cells): Cells {
  const keep = t.heads.map((_, i) => t.rows.some((r) => r[i]));
  const of = <T>(list: T[]) => list.filter((_, i) => keep[i]);
  return { ...t, heads: of(t.heads), numeric: of(t.numeric), rows: t.rows.map(of) };
}

/** The tables, facts and lists of a part of the page, in their order. */
export function tablesOf(root: Element, seen: boolean): Cells[] {
  const out: Cells[] = [];
  let title = "";
  const add = (heads: string[], numeric: boolean[], rows: string[][]) => { if (rows.length > 0) out.push(withoutPictures({ title, heads, numeric, rows })); title = ""; };
  for (const el of root.querySelectorAll<Source>("h2,h3,table,.grid,dl.fact,.changes")) {
    const text = (x: Element) => clean((x as HTMLElement).innerText);
    if (!el.checkVisibility?.() || el.closest(".code")) continue;
    if (/^H/.test(el.tagName)) title = clean(el.firstChild instanceof HTMLElement && el.classList.contains("title") ? el.firstChild.textContent! : el.innerText);
    else if (el.cells) { out.push({ ...el.cells(seen), title }); title = ""; }
    else if (el.tagName === "TABLE") {
      const [head, ...rows] = (el as unknown as HTMLTableElement).rows;
      const heads = [...head.cells];
      add(heads.map(text), heads.map((c) => c.classList.contains("n")), rows.filter((r) => r.cells.length === heads.length).map((r) => [...r.cells].map(text)));
    } else if (el.tagName === "DL") add(["", ""], [false, false], [...el.querySelectorAll("dt")].map((t) => [text(t), text(t.nextElementSibling!)]));
    else add(["Function", "Change"], [false, true], [...el.querySelectorAll("button")].map((b) => [b.title, text(b.lastElementChild!)]));
  }
  return out;
}

/** Text that Markdown takes as it is. */
export const escaped = (s: string) => s.replace(/[\\`*_{}[\]<>|#~&]/g, "\\$&");

export function markdown(tables: Cells[]): string {
  const line = (cells: string[]) => "| " + cells.join(" | ") + " |\n";
  return tables.map((t) => (t.title ? `**${escaped(t.title)}**\n\n` : "") + line(t.heads.map(escaped)) + line(t.numeric.map((n) => (n ? "---:" : "---")))
    + t.rows.map((r) => line(r.map(escaped))).join("") + (t.left ? `\n… ${t.left} more\n` : "")).join("\n");
}

/** What starts like a formula gets a quote in front, unless it is a number. */
const safe = (s: string) => (/^[=+\-@]/.test(s) && !/^[+\-−]?[\d.,]+/.test(s) ? "'" + s : s);

const separated = (tables: Cells[], cell: (s: string) => string, by: string) =>
  tables.map((t) => [t.heads, ...t.rows].map((r) => r.map((c) => cell(safe(c))).join(by) + "\n").join("")).join("\n");

export const tsv = (tables: Cells[]) => separated(tables, (s) => s.replace(/[\t\r\n]/g, " "), "\t");

export const csv = (tables: Cells[]) => separated(tables, (s) => (/[",\r\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s), ",");
