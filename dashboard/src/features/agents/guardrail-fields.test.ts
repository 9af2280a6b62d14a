import { expect, test } from "bun:test";
import { guardrailTypes } from "../../../../server/domain/agent-snapshot.ts";
import { checkGuardrails } from "../../../../server/runtime/guardrails/check.ts";
import { guardrailKinds } from "../../../../server/runtime/guardrails/types/guardrail-kinds.ts";
import { kinds, parseRules, type Rule, togglePoint, updateSetting } from "./guardrail-fields.ts";

test("every type has the server's settings and an example that the server accepts", () => {
  for (const type of guardrailTypes) {
    const { required, optional = {} } = guardrailKinds[type];
    const { settings, example } = kinds[type];
    const names = (isOptional: boolean) => settings.filter((each) => !!each.optional === isOptional).map((s) => s.name);
    expect([type, names(false), names(true)]).toEqual([type, Object.keys(required), Object.keys(optional)]);
    expect([type, checkGuardrails([{ type, ...example }])]).toEqual([type, []]);
    expect(parseRules([{ type, ...example }])).toEqual([{ type, ...example }]);
  }
});

test("rules that fields cannot show completely are not shown as fields", () => {
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
  for (const each of odd) expect([each, parseRules([rule, each])]).toEqual([each, null]);
  expect(parseRules({})).toBeNull();
  expect(parseRules([])).toEqual([]);
});

test("points keep their order, and an empty optional setting is removed", () => {
  const rule: Rule = { type: "pii", on: ["output"], action: "redact", config: { kinds: ["email"] } };
  expect(togglePoint(togglePoint(rule, "input", true), "tool_call", true).on).toEqual(["input", "output", "tool_call"]);
  expect(togglePoint(rule, "output", false).on).toEqual([]);
  expect(updateSetting(rule, kinds.pii.settings[0]!, []).config).toEqual({});
  expect(updateSetting(rule, kinds.regex.settings[0]!, "").config).toEqual({ kinds: ["email"], pattern: "" });
});
