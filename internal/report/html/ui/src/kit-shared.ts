// The kit as the script of sections sees it: see kit.ts.

import type * as kit from "./kit";

const shared = (globalThis as unknown as { profdiff: typeof kit }).profdiff;
export const {
  Button, CHANGE, COSTS, ChangeTable, Change_, Copy, Delta, Dim, Facts, Flame, FnLink, Fragment, GroupTable, Legend, Marked, Name, None, Strip, Tree, Verdict, Wide, block, changeCells, cost, costCells, count, delta, digits, elide, format, frameOf, go, h, heads, leftOut, linesOf, loadEvent, matcher, minus, num, plural, reachOf, reached, save, share, untested, useBlock, useEffect, useMemo, useRef, useState, weight,
} = shared;
