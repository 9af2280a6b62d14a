import { expect, test } from "bun:test";
import { runIdsIn } from "./run-ids.ts";

const id = "run_01m7zf0k46aztc1czevwfbr71j";

test("ids are found between blanks, commas and lines, each once", () => {
  expect(runIdsIn(` ${id},\n${id}; run_01m7zf0k4nvtje7gb6dbpxkkt4 `)).toEqual({
    ids: [id, "run_01m7zf0k4nvtje7gb6dbpxkkt4"],
    others: [],
  });
});

test("what is no id of a run is told apart", () => {
  expect(runIdsIn(`agt_1 ${id}`)).toEqual({ ids: [id], others: ["agt_1"] });
});
