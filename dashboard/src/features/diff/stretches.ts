import type { DiffStep as StepPair } from "../../../../server/wire/trace.ts";

/** What the page lists: a pair of steps, or how many equal ones are left out there. */
export type Entry = { kind: "pair"; pair: StepPair } | { kind: "hidden"; first: number; count: number };

/** All pairs, or those that differ and between them how many do not; `breaks` ends a stretch before that index. */
export function entriesOf(pairs: readonly StepPair[], hideEqual: boolean, breaks?: number): Entry[] {
  const entries: Entry[] = [];
  for (const pair of pairs) {
    const last = entries.at(-1);
    if (!hideEqual || pair.change !== "equal") entries.push({ kind: "pair", pair });
    else if (last?.kind === "hidden" && pair.index !== breaks) last.count++;
    else entries.push({ kind: "hidden", first: pair.index, count: 1 });
  }
  return entries;
}

/** The index that an entry begins with. */
export const firstOf = (entry: Entry): number => (entry.kind === "pair" ? entry.pair.index : entry.first);
