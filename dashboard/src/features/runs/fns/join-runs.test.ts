import { expect, test } from "bun:test";
import { joinRuns } from "./join-runs.ts";

test("two lists are one, newest first, and a run of both stands there once, as in the first", () => {
  const joined = joinRuns(
    [
      { id: "run_3", from: "page" },
      { id: "run_2", from: "page" },
    ],
    [
      { id: "run_2", from: "further" },
      { id: "run_1", from: "further" },
    ],
  );
  expect(joined.map(({ id, from }) => `${id} ${from}`)).toEqual(["run_3 page", "run_2 page", "run_1 further"]);
});
