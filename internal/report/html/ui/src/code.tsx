// Machine code of both sides.

import { Dim, Legend, count, h, heads } from "./kit";
import type { Listing, ListingRow } from "./types";

const at = (n: number) => (n < 0 ? "" : "+" + n.toString(16));

/** A bar as long as a part from 0 to 1. */
export const Heat = ({ of, room }: { of: number; room: number }) => {
  const w = of > 0 ? Math.max(1, room * of) : 0;
  return <span class="heat" style={{ width: w + "px", marginRight: room - w + "px" }} />;
};

/** Instructions of a listing, all or some. What is above them names where they are from: place says so of a row. */
export function Instructions({ listing, rows, label, place }: { listing: Listing; rows: ListingRow[]; label: string; place: (r: ListingRow) => preact.ComponentChildren }) {
  const B = listing.BaseSamples || 1, H = listing.HeadSamples || 1;
  const most = (r: ListingRow) => Math.max(r.BaseSamples / B, r.HeadSamples / H);
  const peak = listing.Rows.reduce((m, r) => Math.max(m, most(r)), 0) || 1;
  const cell = (n: number, all: number) => <td class="n">{n > 0 ? <span>{count(n)} <Dim>{((100 * n) / all).toFixed(1)}%</Dim></span> : ""}<Heat of={n / all / peak} room={46} /></td>;
  let last = "";
  const out: preact.VNode[] = [];
  rows.forEach((r, i) => {
    const where = r.File ? r.File + ":" + r.Line : "";
    if (where !== "" && where !== last) {
      const text = place(r);
      if (text) out.push(<tr key={"s" + i} class="src"><td /><td /><td class="ins" colSpan={3}>{text}</td></tr>);
      last = where;
    }
    const side = r.BaseOffset < 0 ? "new" : r.HeadOffset < 0 ? "gone" : "";
    out.push(
      <tr key={i} class={side + (most(r) > 0.05 ? " hot" : "")}>
        <td class="n dim">{at(r.BaseOffset)}</td><td class="n dim">{at(r.HeadOffset)}</td>
        <td class="ins"><bdi>{side === "gone" ? "− " : side === "new" ? "+ " : "  "}{r.HeadText || r.BaseText}</bdi>{r.BaseText && r.HeadText && r.BaseText !== r.HeadText ? <Dim>  was {r.BaseText}</Dim> : null}</td>
        {cell(r.BaseSamples, B)}{cell(r.HeadSamples, H)}
      </tr>,
    );
  });
  return <div class="scroll" tabIndex={0} role="region" aria-label={label}><table class="code">{heads(">Before|>After|Instruction|>Samples before|>Samples after")}<tbody>{out}</tbody></table></div>;
}

/** The code of a function. */
export function Code({ listing }: { listing: Listing }) {
  return (
    <div>
      <h3>Instructions of {listing.Event}</h3>
      <Legend>Aligned by what the instructions are, not by their addresses: + is after only, − before only. Samples, and their part of the function’s. {listing.Note}</Legend>
      <Instructions listing={listing} rows={listing.Rows} label={"Instructions of " + listing.Function} place={(r) => <bdi>{r.File}:{r.Line}{r.Source ? <code class="line">  {r.Source}</code> : null}</bdi>} />
    </div>
  );
}
