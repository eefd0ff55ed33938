// The kit as the script of sections sees it: see kit.ts.

import type * as kit from "./kit";

const shared = (globalThis as unknown as { profdiff: typeof kit }).profdiff;
export const {
  Button, CHANGE, COSTS, ChangeTable, Change_, Delta, Dim, Facts, Flame, FnLink, Fragment, GroupTable, Legend, Marked, Name, None, Strip, Tree, Verdict, Wide, changeCells, cost, costCells, count, delta, digits, elide, format, frameOf, go, h, heads, linesOf, loadEvent, matcher, minus, num, plural, reachOf, share, untested, useBlock, useEffect, useMemo, useRef, useState, weight,
} = shared;
