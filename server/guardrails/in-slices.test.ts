import { expect, test } from "bun:test";
import type { Guardrail } from "../core/agent-snapshot.ts";
import { compileGuardrails } from "./compile.ts";
import { searched, textsOf } from "./in-slices.ts";
import { screenOutput } from "./inspect.ts";

const guardrails: Guardrail[] = [
  { type: "pii", on: ["tool_output"], action: "redact", config: {} },
  { type: "regex", on: ["tool_output"], action: "flag", config: { pattern: "[a-z]+[0-9]" } },
  { type: "max_length", on: ["tool_output"], action: "flag", config: { max_length: 10 } },
  { type: "blocked_terms", on: ["input"], action: "block", config: { terms: ["a"] } },
];
const long = `${"😀 write to ann@example.com or a1, ".repeat(500)}4111 1111 1111 1111`;

test("what is found in slices is what is found at once, and others come first in between", async () => {
  const list = compileGuardrails(guardrails);
  let pauses = 0;
  const pause = async () => {
    pauses++;
    Bun.sleepSync(0);
  };
  for (const value of [long, { [long.slice(0, 1500)]: [long, 4111111111111111, null, true] }]) {
    const known = await searched(list, "tool_output", textsOf(value), pause);
    expect(screenOutput(known, value)).toEqual(screenOutput(list, value));
  }
  const heavy = compileGuardrails(Array.from({ length: 8 }, () => guardrails[0]!));
  await searched(heavy, "tool_output", [long.repeat(4)], pause);
  expect(pauses).toBeGreaterThan(0);
});
