import { expect, test } from "bun:test";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { filterWords } from "../../features/runs/filter-words.ts";
import { readRunsSearch } from "../../features/runs/read-runs-search.ts";
import { pastedId } from "../../features/runs/runs-filters.tsx";
import { fieldTime, fitsFilters, hasText, isFiltered, runsParameters, spanStart, timeWords } from "./runs-search.ts";

const id = "01m7zgg6zhy0rs95xwcnppcxxx";
const now = Date.parse("2026-11-21T16:00:00Z");
const run = {
  id: `run_${id}`,
  agent_id: `agt_${id}`,
  status: "failed",
  input: "Where is my order?",
  output: null,
  error: { code: "model_error", message: "The provider failed." },
  user_id: "ada",
  thread_id: null,
  origin: "run",
  created_at: "2026-11-21T02:14:07.123Z",
} as Run;

test("an address gives the filters that it names, and nothing of what is no filter", () => {
  const search = {
    status: "failed",
    since: "24h",
    user: 7,
    thread: "x",
    origin: "else",
    agent: `agt_${id}`,
    until: "soon",
  };
  expect(readRunsSearch(search)).toEqual({ status: "failed", since: "24h", user: "7", agent: `agt_${id}` });
  expect(readRunsSearch({ since: "2026-11-21T02:00:00.000Z" })).toEqual({ since: "2026-11-21T02:00:00.000Z" });
});

test("a span becomes a time of the API, reckoned from now", () => {
  expect(runsParameters({ since: "24h", status: "failed" }, now)).toMatchObject({
    status: "failed",
    "created_at[gte]": "2026-11-20T16:00:00.000Z",
    "created_at[lte]": undefined,
  });
});

test("a run that changed is held against every filter", () => {
  expect(fitsFilters(run, { since: "24h", status: "failed", user: "ada" }, now)).toBe(true);
  const others = [
    { since: "1h" },
    { until: "2026-11-21T02:00:00Z" },
    { user: "bob" },
    { origin: "fork" },
    { thread: "thr_1" },
    { agent: "agt_1" },
    { status: "completed" },
  ] as const;
  for (const search of others) expect(fitsFilters(run, search, now)).toBe(false);
});

test("text is found in what a row shows, whatever its case", () => {
  for (const text of ["ORDER", "model_error", "provider", "ada", "refund", id])
    expect(hasText(run, "Refund desk", text)).toBe(true);
  expect(hasText(run, "Refund desk", "absent")).toBe(false);
});

test("a pasted id leads to its run, or becomes a filter", () => {
  expect(pastedId(` trc_${id} `)).toEqual({ kind: "run", id: `run_${id}` });
  expect(pastedId(`thr_${id}`)?.kind).toBe("thread");
  expect(pastedId("run_1")).toBeNull();
  expect(pastedId(`call_${id}`)).toBeNull();
});

test("a list that is emptied by filters says by which", () => {
  const words = (search: object) => filterWords(search, { status: { failed: "Failed" }, agent: "Refund desk" });
  expect(words({ status: "failed", agent: "agt_1", since: "24h" })).toBe(
    "with status “Failed” and agent “Refund desk” in the last 24 hours",
  );
  expect(words({ origin: "fork" })).toBe("with origin “Fork”");
  expect(words({ since: "7d" })).toBe("in the last 7 days");
  expect(isFiltered({ q: "x" })).toBe(false);
});

test("a span ends now, and a time is itself", () => {
  expect(spanStart("1h", 3_600_000)).toBe(0);
  expect(spanStart("1970-01-01T00:00:01Z", 0)).toBe(1000);
});

test("a range of one day names the day once", () => {
  const at = (hour: number, day = 21) => new Date(2026, 10, day, hour, 0).toISOString();
  expect(timeWords(at(2), at(6))).toBe("21 Nov 02:00 to 06:00");
  expect(timeWords(at(22), at(6, 22))).toBe("21 Nov 22:00 to 22 Nov 06:00");
  expect(timeWords(at(2), undefined)).toBe("since 21 Nov 02:00");
  expect(timeWords(undefined, at(2))).toBe("until 21 Nov 02:00");
  expect(timeWords("7d", undefined)).toBe("last 7 days");
});

test("a field of the browser shows the reader's own time", () => {
  expect(fieldTime(new Date(2026, 10, 21, 2, 5).getTime())).toBe("2026-11-21T02:05");
});
