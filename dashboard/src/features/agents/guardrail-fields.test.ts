import { expect, test } from "bun:test";
import { guardrailTypes } from "../../../../server/core/agent-snapshot.ts";
import { checkGuardrails } from "../../../../server/guardrails/check.ts";
import { guardrailKinds } from "../../../../server/guardrails/types/guardrail-kinds.ts";
import { kinds, type Rule, rulesOf, withPoint, withSetting } from "./guardrail-fields.ts";

test("every type has the settings that the server knows, and an example that it takes", () => {
  for (const type of guardrailTypes) {
    const { required, optional = {} } = guardrailKinds[type];
    const { settings, example } = kinds[type];
    const names = (isOptional: boolean) => settings.filter((each) => !!each.optional === isOptional).map((s) => s.name);
    expect([type, names(false), names(true)]).toEqual([type, Object.keys(required), Object.keys(optional)]);
    expect([type, checkGuardrails([{ type, ...example }])]).toEqual([type, []]);
    expect(rulesOf([{ type, ...example }])).toEqual([{ type, ...example }]);
  }
});

test("rules that fields cannot show whole are not shown by them", () => {
  const rule = { type: "regex", on: ["output"], action: "block", config: { pattern: "a" } };
  const odd = [
    { ...rule, type: "novel" },
    { ...rule, on: "output" },
    { ...rule, on: ["novel"] },
    { ...rule, action: "novel" },
    { ...rule, name: "mine" },
    { ...rule, config: { pattern: "a", flags: "i" } },
    { ...rule, config: { pattern: "a\nb" } },
    { type: "blocked_terms", on: ["output"], action: "block", config: { terms: ["two\nlines"] } },
    "rule",
  ];
  for (const each of odd) expect([each, rulesOf([rule, each])]).toEqual([each, null]);
  expect(rulesOf({})).toBeNull();
  expect(rulesOf([])).toEqual([]);
});

test("points stay in their order, and a setting that may be left out is left out when it is empty", () => {
  const rule: Rule = { type: "pii", on: ["output"], action: "redact", config: { kinds: ["email"] } };
  expect(withPoint(withPoint(rule, "input", true), "tool_call", true).on).toEqual(["input", "output", "tool_call"]);
  expect(withPoint(rule, "output", false).on).toEqual([]);
  expect(withSetting(rule, kinds.pii.settings[0]!, []).config).toEqual({});
  expect(withSetting(rule, kinds.regex.settings[0]!, "").config).toEqual({ kinds: ["email"], pattern: "" });
});
