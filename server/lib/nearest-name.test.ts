import { expect, test } from "bun:test";
import { nearestName } from "./nearest-name.ts";

const names = ["agent_id", "input", "stream", "metadata", "max_turns", "user_id", "tools", "id"];

test.each([
  ["agentId", "agent_id"],
  ["agent-id", "agent_id"],
  ["Agent_ID", "agent_id"],
  ["agent", null],
  ["inptu", "input"],
  ["imput", "input"],
  ["inputs", "input"],
  ["steam", "stream"],
  ["metdata", "metadata"],
  ["maxTurns", "max_turns"],
  ["max_turn", "max_turns"],
  ["tool", "tools"],
  ["ix", "id"],
  ["xy", null],
  ["temperature", null],
  ["", null],
])("for %p the name that was meant is found", (given, meant) => {
  expect(nearestName(given, names)).toBe(meant);
});

test("a name of a megabyte is compared with none", () => {
  expect(nearestName("x".repeat(1_000_000), names)).toBeNull();
});

test("a known name is never said to be meant for itself", () => {
  expect(nearestName("input", ["input"])).toBeNull();
});
