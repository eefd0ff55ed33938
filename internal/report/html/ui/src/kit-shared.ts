// The kit as the script of sections sees it: see kit.ts.

import type * as kit from "./kit";

const shared = (globalThis as unknown as { profdiff: typeof kit }).profdiff;
export const {
  Fragment, h, useState, cost, count, delta, digits, minus, plural, relative, share, shorter, weight, GroupTable, Bar, Change_, Delta, Facts, Strip, Verdict, heads, reachOf, matcher, format,
} = shared;
