// What the script of sections takes from that of the page, so that it is there once.

export { Fragment, h } from "preact";
export { useState } from "preact/hooks";
export { cost, count, digits, minus, plural, share, weight } from "./format";
export { GroupTable } from "./groups";
export { CHANGE, COSTS, ChangeTable, Change_, Dim, Facts, FnLink, Legend, Marked, Name, None, Strip, Verdict, Wide, changeCells, costCells, heads, num, reachOf } from "./parts";
export { elide } from "./names";
export { matcher } from "./search";
export { format, frameOf } from "./state";
