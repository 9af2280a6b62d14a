import { expect, test } from "bun:test";
import { filterWords } from "../../features/runs/filter-words.ts";
import { draftOf, filtersOfDraft } from "../../features/runs/filters-dialog.tsx";
import { readRunsSearch } from "../../features/runs/read-runs-search.ts";
import { parsePastedId } from "../../features/runs/runs-filters.tsx";
import { readViews, withView } from "../../features/runs/views.ts";
import { fieldTime, isFiltered, runsParameters, spanStart, timeWords, viewOf } from "./runs-search.ts";

const id = "01m7zgg6zhy0rs95xwcnppcxxx";
const now = Date.parse("2026-11-21T16:00:00Z");
test("known filters are read from an address and unknown ones are ignored", () => {
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

test("a relative span becomes an absolute API time", () => {
  expect(runsParameters({ since: "24h", status: "failed" }, now)).toMatchObject({
    status: "failed",
    "created_at[gte]": "2026-11-20T16:00:00.000Z",
    "created_at[lte]": undefined,
  });
});

test("every filter of the address is an API parameter", () => {
  const search = readRunsSearch({
    model: "test/echo",
    error: "model_error",
    tool: "book",
    cost: "0.5..2",
    duration: "1000..",
    q: "two words",
    score: "quality",
    value: "..0.5",
    metadata: ["order=4711", "a=b=c"],
    sort: "cost",
    order: "asc",
  });
  const parameters = Object.entries(runsParameters(search, now)).filter(([, value]) => value !== undefined);
  expect(Object.fromEntries(parameters)).toEqual({
    model: "test/echo",
    error_code: "model_error",
    tool: "book",
    q: "two words",
    sort: "cost",
    order: "asc",
    cost_min: "0.5",
    cost_max: "2",
    duration_ms_min: "1000",
    score: "quality",
    score_max: "0.5",
    "metadata[order]": "4711",
    "metadata[a]": "b=c",
  });
});

test("an invalid range, pair or order is left out of the address", () => {
  expect(readRunsSearch({ cost: "..", duration: "1-2", value: "a..b", metadata: ["=x", 7], sort: "id" })).toEqual({});
});

test("the filter form returns its values and omits emptied ones", () => {
  const filters = { duration: "1500..", cost: "..2", metadata: ["a=b"], user: "ada" };
  expect(filtersOfDraft(draftOf(filters))).toMatchObject(filters);
  expect(filtersOfDraft(draftOf({}))).toHaveProperty("user", undefined);
});

test("a view is stored without its page and unique by name, and invalid views are ignored", () => {
  const kept = withView([{ name: "Dear", search: {} }], {
    name: "Dear",
    search: viewOf({ cost: "1..", after: "run_1" }),
  });
  expect(readViews(JSON.stringify(kept))).toEqual([{ name: "Dear", search: { cost: "1.." } }]);
  for (const text of ["", "{}", '[{"name":1}]', "[null]"]) expect(readViews(text)).toEqual([]);
});

test("a pasted id opens its run or becomes a filter", () => {
  expect(parsePastedId(` trc_${id} `)).toEqual({ kind: "run", id: `run_${id}` });
  expect(parsePastedId(`thr_${id}`)?.kind).toBe("thread");
  expect(parsePastedId("run_1")).toBeNull();
  expect(parsePastedId(`call_${id}`)).toBeNull();
});

test("an empty list names its active filters", () => {
  const words = (search: object) => filterWords(search, { status: { failed: "Failed" }, agent: "Refund desk" });
  expect(words({ status: "failed", agent: "agt_1", since: "24h" })).toBe(
    "with status “Failed” and agent “Refund desk” in the last 24 hours",
  );
  expect(words({ origin: "fork" })).toBe("with origin “Fork”");
  expect(words({ since: "7d" })).toBe("in the last 7 days");
  expect(words({ error: "model_error", cost: "0.5..", duration: "1000..5000", value: "..3", q: "refund" })).toBe(
    "with error code “model_error” and cost “from $0.5” and duration “1.00 s to 5.00 s” and score “any up to 3” and the text “refund”",
  );
  expect([isFiltered({ q: "x" }), isFiltered({ sort: "cost", after: "run_1" })]).toEqual([true, false]);
});

test("a span ends now, and a timestamp is used as it is", () => {
  expect(spanStart("1h", 3_600_000)).toBe(0);
  expect(spanStart("1970-01-01T00:00:01Z", 0)).toBe(1000);
});

test("a range within one day shows the date once", () => {
  const at = (hour: number, day = 21) => new Date(2026, 10, day, hour, 0).toISOString();
  expect(timeWords(at(2), at(6))).toBe("21 Nov 02:00 to 06:00");
  expect(timeWords(at(22), at(6, 22))).toBe("21 Nov 22:00 to 22 Nov 06:00");
  expect(timeWords(at(2), undefined)).toBe("since 21 Nov 02:00");
  expect(timeWords(undefined, at(2))).toBe("until 21 Nov 02:00");
  expect(timeWords("7d", undefined)).toBe("last 7 days");
});

test("a datetime field shows the reader's local time", () => {
  expect(fieldTime(new Date(2026, 10, 21, 2, 5).getTime())).toBe("2026-11-21T02:05");
});
