// What the script of sections takes from that of the page, so that it is there once.

export { Fragment, h } from "preact";
export { useState } from "preact/hooks";
export { cost, count, delta, digits, minus, plural, relative, share, shorter, weight } from "./format";
export { GroupTable } from "./groups";
export { Bar, Change_, Delta, Facts, Strip, Verdict, heads, reachOf } from "./parts";
export { matcher } from "./search";
export { format } from "./state";
