import { expect, test } from "bun:test";
import type { Guardrail } from "../core/agent-snapshot.ts";
import { turnsDuring } from "../testing/turns.ts";
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
  for (const value of [long, { [long.slice(0, 1500)]: [long, 4111111111111111, null, true] }]) {
    const known = await searched(list, "tool_output", textsOf(value));
    expect(screenOutput(known, value)).toEqual(screenOutput(list, value));
  }
  const heavy = compileGuardrails(Array.from({ length: 8 }, () => guardrails[0]!));
  const { turns } = await turnsDuring(() => searched(heavy, "tool_output", [long.repeat(4)]));
  expect(turns).toBeGreaterThan(100);
});

// Ten inputs at once took ten slices of each turn.
test("many texts that are searched at once take no more of a turn than one", async () => {
  const list = compileGuardrails([guardrails[0]!]);
  const search = () => searched(list, "tool_output", [long]);
  const one = await turnsDuring(search);
  const many = await turnsDuring(() => Promise.all(Array.from({ length: 10 }, search)));
  expect(many.turns).toBeGreaterThan(5 * one.turns);
});
