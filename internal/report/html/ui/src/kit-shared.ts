// The kit as the script of sections sees it: see kit.ts.

import type * as kit from "./kit";

const shared = (globalThis as unknown as { profdiff: typeof kit }).profdiff;
export const {
  CHANGE, COSTS, ChangeTable, Change_, Dim, Facts, FnLink, Fragment, GroupTable, Legend, Marked, Name, None, Strip, Verdict, Wide, changeCells, cost, costCells, count, digits, elide, format, frameOf, h, heads, matcher, minus, num, plural, reachOf, share, useState, weight,
} = shared;
