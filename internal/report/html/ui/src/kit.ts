// What the script of sections takes from that of the page, so that it is there once.

export { Fragment, h } from "preact";
export { useEffect, useMemo, useRef, useState } from "preact/hooks";
export { linesOf, useBlock } from "./card";
export { Tree, block, loadEvent, untested } from "./data";
export { Flame } from "./flame";
export { cost, count, delta, digits, leftOut, minus, plural, share, weight } from "./format";
export { GroupTable } from "./groups";
export { elide } from "./names";
export { Button, CHANGE, COSTS, ChangeTable, Change_, Copy, Delta, Dim, Facts, FnLink, Legend, Marked, Name, None, Strip, Verdict, Wide, changeCells, costCells, heads, num, reachOf, reached, save } from "./parts";
export { matcher } from "./search";
export { format, frameOf, go } from "./state";
