import { expect, test } from "bun:test";
import type { Guardrail } from "../../domain/agent-snapshot.ts";
import { turnsDuring } from "../../testing/turns.ts";
import { compileGuardrails } from "./compile.ts";
import { screenInSlices, searchInSlices, textsOf } from "./in-slices.ts";
import { screenCall, screenOutput, screenText } from "./inspect.ts";

const guardrails: Guardrail[] = [
  { type: "pii", on: ["tool_output"], action: "redact", config: {} },
  { type: "regex", on: ["tool_output"], action: "flag", config: { pattern: "[a-z]+[0-9]" } },
  { type: "max_length", on: ["tool_output"], action: "flag", config: { max_length: 10 } },
  { type: "blocked_terms", on: ["input"], action: "block", config: { terms: ["a"] } },
];
const long = `${"😀 write to ann@example.com or a1, ".repeat(500)}4111 1111 1111 1111`;

test("searching in slices finds the same as at once, and yields to other work", async () => {
  const list = compileGuardrails(guardrails);
  for (const value of [long, { [long.slice(0, 1500)]: [long, 4111111111111111, null, true] }]) {
    const known = await searchInSlices(list, "tool_output", textsOf(value));
    expect(screenOutput(known, value)).toEqual(screenOutput(list, value));
  }
  const heavy = compileGuardrails(Array.from({ length: 8 }, () => guardrails[0]!));
  const { turns } = await turnsDuring(() => searchInSlices(heavy, "tool_output", [long.repeat(4)]));
  expect(turns).toBeGreaterThan(100);
});

// Ten concurrent inputs used to take ten slices of each turn.
test("many concurrent searches take no more of a turn than one", async () => {
  const list = compileGuardrails([guardrails[0]!]);
  const search = () => searchInSlices(list, "tool_output", [long]);
  const one = await turnsDuring(search);
  const many = await turnsDuring(() => Promise.all(Array.from({ length: 10 }, search)));
  expect(many.turns).toBeGreaterThan(5 * one.turns);
});

test("screening in slices gives the same findings and the same value as at once", async () => {
  const on = ["input", "tool_output", "tool_call"] as const;
  const list = compileGuardrails([
    { type: "pii", on: ["input", "tool_output"], action: "redact", config: {} },
    { type: "pii", on: [...on], action: "flag", config: { kinds: ["email"] } },
    { type: "secrets", on: ["input", "tool_output"], action: "redact", config: {} },
    { type: "json_schema", on: ["input", "tool_output"], action: "flag", config: { schema: { type: "object" } } },
    { type: "max_length", on: ["tool_output"], action: "redact", config: { max_length: 40 } },
    { type: "tool_allowlist", on: ["tool_call"], action: "block", config: { tools: ["look"] } },
  ]);
  const email = "Write to ann@example.com. ";
  const values: unknown[] = [
    email,
    long,
    "{}",
    4111111111111111,
    null,
    { [email]: [email, email, { a: 1 }], "a@b.cc": "a@b.cc" },
  ];
  for (const value of values) {
    expect(await screenInSlices(list, "tool_output", value)).toEqual(screenOutput(list, value));
    if (typeof value === "string")
      expect(await screenInSlices(list, "input", value)).toEqual(screenText(list, "input", value));
    const call: Parameters<typeof screenCall>[1] = { tool: "other", arguments: { value } };
    const called = await screenInSlices(list, "tool_call", call.arguments, { tool: call.tool });
    expect(called).toEqual(screenCall(list, call));
  }
});

// Without slices, 40,000 numbers under one guardrail took 200 ms, and 35,000 addresses under 32 of them 300 ms.
test.each([
  ["many texts", Array.from({ length: 2000 }, (_, index) => `a${index}@b.cc`)],
  ["a text with many places", "a@b.cc ".repeat(6000)],
])("screening of %s yields to other work, also during redaction", async (_, value) => {
  const list = compileGuardrails([guardrails[0]!]);
  const { turns: searching } = await turnsDuring(() => searchInSlices(list, "tool_output", textsOf(value)));
  const { turns, result } = await turnsDuring(() => screenInSlices(list, "tool_output", value));
  expect(turns).toBeGreaterThan(searching + 100);
  expect(JSON.stringify(result.value)).not.toContain("@");
});
