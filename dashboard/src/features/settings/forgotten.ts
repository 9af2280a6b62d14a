import { plural } from "../../lib/format.ts";
import type { Value } from "./amount.ts";

const nouns: Record<string, string> = {
  "test.runs_days": "Test runs",
  "test.traces_days": "Traces of test runs",
  "live.runs_days": "Live runs",
  "live.traces_days": "Traces of live runs",
};

/** Describes the data that a retention change deletes; empty if it keeps everything. */
export function describeDeletedData(saved: Record<string, Value>, changes: Record<string, Value>): string[] {
  return Object.entries(changes).flatMap(([name, days]) => {
    const before = saved[name] ?? Number.POSITIVE_INFINITY;
    if (days === null || days >= before) return [];
    return [`${nouns[name]} that ended more than ${plural(days, "day")} ago are deleted.`];
  });
}
