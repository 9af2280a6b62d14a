import { expect, test } from "bun:test";
import { guardrailActions, guardrailPoints, guardrailTypes } from "../../domain/agent-snapshot.ts";
import { checkGuardrails, fitsPlace, type GuardrailInput } from "./check.ts";
import { compileGuardrails } from "./compile.ts";

const good: Record<GuardrailInput["type"], Record<string, unknown>> = {
  max_length: { max_length: 100 },
  regex: { pattern: "a+" },
  blocked_terms: { terms: ["a"] },
  pii: { kinds: ["email"] },
  secrets: {},
  json_schema: { schema: { type: "object" } },
  url_allowlist: { hosts: ["example.com", "*.example.org", "[::1]", "münchen.de"] },
  tool_allowlist: { tools: ["send"] },
  llm_judge: { prompt: "Nothing rude.", model: "test/judge" },
};

test("every type is accepted exactly where it can act", () => {
  for (const type of guardrailTypes)
    for (const on of guardrailPoints)
      for (const action of guardrailActions) {
        const faults = checkGuardrails([{ type, on: [on], action, config: good[type] }]);
        expect([type, on, action, faults.length === 0]).toEqual([type, on, action, fitsPlace(type, on, action)]);
        if (faults.length === 0) compileGuardrails([{ type, on: [on], action, config: good[type] }]);
      }
});

test("a type without settings needs no config", () => {
  expect(
    checkGuardrails([
      { type: "secrets", on: ["output"], action: "redact" },
      { type: "pii", on: ["input"], action: "block" },
    ]),
  ).toEqual([]);
});

test.each<[string, Partial<GuardrailInput>, string]>([
  ["a required setting that is missing", { type: "regex", config: {} }, "guardrails[0].config.pattern"],
  ["a setting of another type", { type: "secrets", config: { pattern: "a" } }, "guardrails[0].config.pattern"],
  ["look-around", { type: "regex", config: { pattern: "(?=a)b" } }, "guardrails[0].config.pattern"],
  ["a pattern that is a number", { type: "regex", config: { pattern: 1 } }, "guardrails[0].config.pattern"],
  [
    "a pattern of too many steps",
    { type: "regex", config: { pattern: "(?:a{40}){40}" } },
    "guardrails[0].config.pattern",
  ],
  ["a length of nothing", { type: "max_length", config: { max_length: 0 } }, "guardrails[0].config.max_length"],
  ["no terms", { type: "blocked_terms", config: { terms: [] } }, "guardrails[0].config.terms"],
  ["too many terms", { type: "blocked_terms", config: { terms: Array(1001).fill("a") } }, "guardrails[0].config.terms"],
  ["an invisible term", { type: "blocked_terms", config: { terms: ["a", "\u200b"] } }, "guardrails[0].config.terms[1]"],
  ["a long term", { type: "blocked_terms", config: { terms: ["a".repeat(201)] } }, "guardrails[0].config.terms[0]"],
  ["a kind that is none", { type: "pii", config: { kinds: ["email", "name"] } }, "guardrails[0].config.kinds[1]"],
  [
    "a broken schema",
    { type: "json_schema", config: { schema: { type: "foo" } }, action: "block" },
    "guardrails[0].config.schema",
  ],
  [
    "a host with a path",
    { type: "url_allowlist", config: { hosts: ["a.com", "b.com/x"] } },
    "guardrails[0].config.hosts[1]",
  ],
  ["a host with a port", { type: "url_allowlist", config: { hosts: ["a.com:80"] } }, "guardrails[0].config.hosts[0]"],
  ["a host of stars", { type: "url_allowlist", config: { hosts: ["*"] } }, "guardrails[0].config.hosts[0]"],
  ["a star in the middle", { type: "url_allowlist", config: { hosts: ["a.*.com"] } }, "guardrails[0].config.hosts[0]"],
  [
    "a tool's name that is none",
    { type: "tool_allowlist", on: ["tool_call"], action: "block", config: { tools: ["a b"] } },
    "guardrails[0].config.tools[0]",
  ],
  ["an empty rule", { type: "llm_judge", action: "block", config: { prompt: " " } }, "guardrails[0].config.prompt"],
  ["a judge who is to redact", { type: "llm_judge", config: { prompt: "x" } }, "guardrails[0].action"],
  [
    "approval of an output",
    { type: "secrets", action: "require_approval", on: ["tool_call", "output"] },
    "guardrails[0].on",
  ],
  ["arguments to be cut", { type: "max_length", config: { max_length: 1 }, on: ["tool_call"] }, "guardrails[0].on"],
])("%s is refused by its path", (_, change, path) => {
  const faults = checkGuardrails([{ type: "secrets", on: ["output"], action: "redact", ...change }]);
  expect(faults.map(({ param }) => param)).toEqual([path]);
  expect(faults[0]!.message).toStartWith(`${path}: `);
});

test("an unknown setting has a code of its own, so that the API returns unknown_parameter", () => {
  expect(checkGuardrails([{ type: "secrets", on: ["output"], action: "redact", config: { x: 1 } }])).toMatchObject([
    { code: "unknown_parameter" },
  ]);
});

test("every fault of a list is reported", () => {
  const bad: GuardrailInput = { type: "regex", on: ["output"], action: "block", config: { pattern: "(" } };
  expect(checkGuardrails([bad, { ...bad, config: { pattern: "a" } }, bad]).map(({ param }) => param)).toEqual([
    "guardrails[0].config.pattern",
    "guardrails[2].config.pattern",
  ]);
  expect(checkGuardrails(Array(33).fill({ ...bad, config: { pattern: "a" } }))).toMatchObject([
    { param: "guardrails" },
  ]);
});

test("the total cost of all patterns is limited", () => {
  const large: GuardrailInput = { type: "regex", on: ["output"], action: "block", config: { pattern: "(?:ab){200}" } };
  expect(checkGuardrails([large, large])).toEqual([]);
  expect(checkGuardrails([large, large, large, large])).toMatchObject([{ param: "guardrails" }]);
});
