import type { Row } from "./row.ts";

/** Minimum number of consecutive calls of a tool that are folded. */
const fewest = 4;

/** Suffix of a fold's key, which starts with the key of its first call. */
const tail = "~";

/** Returns the key of the row whose details are shown: for a fold, its first call. */
export const keyOfDetail = (key: string): string => (key.endsWith(tail) ? key.slice(0, -tail.length) : key);

/** Folds consecutive calls of one tool into an expandable line, except calls that need attention. */
export function foldCalls(rows: readonly Row[], open: ReadonlySet<string>): Row[] {
  const visibleRows: Row[] = [];
  for (let from = 0; from < rows.length; ) {
    const first = rows[from]!;
    let to = from + 1;
    while (to < rows.length && isSameCall(first, rows[to]!)) to++;
    const calls = rows.slice(from, to);
    if (calls.length < fewest) visibleRows.push(...calls);
    else {
      const fold = foldOf(calls, open);
      visibleRows.push(fold);
      if (fold.open) for (const call of calls) visibleRows.push({ ...call, parent: fold.key, level: call.level + 1 });
    }
    from = to;
  }
  return visibleRows;
}

const isQuiet = ({ kind, type, mark, opens, end }: Row): boolean =>
  kind === "step" && type === "tool_call" && mark === null && !opens && end !== null;

const isSameCall = (a: Row, b: Row): boolean =>
  isQuiet(a) && isQuiet(b) && a.name === b.name && a.runId === b.runId && a.parent === b.parent;

function foldOf(calls: readonly Row[], open: ReadonlySet<string>): Row {
  const [first] = calls as [Row];
  const key = first.key + tail;
  return {
    ...first,
    key,
    kind: "fold",
    name: `${first.name} ×${calls.length}`,
    sub: "",
    step: null,
    end: calls.reduce((end, call) => Math.max(end, call.end ?? end), first.start),
    waits: calls.flatMap(({ waits }) => waits),
    opens: true,
    open: open.has(key),
  };
}

/** Returns the key of the fold that contains a hidden call; a visible call's own key. */
export function lineOf(shown: readonly Row[], rows: readonly Row[], key: string): string {
  if (shown.some((row) => row.key === key)) return key;
  const at = rows.findIndex((row) => row.key === key);
  for (let index = at; index >= 0; index--) {
    const fold = rows[index]!.key + tail;
    if (shown.some((row) => row.key === fold)) return fold;
  }
  return key;
}
