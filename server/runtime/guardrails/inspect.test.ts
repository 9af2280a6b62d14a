import { describe, expect, test } from "bun:test";
import type { Guardrail, GuardrailAction, GuardrailPoint } from "../../domain/agent-snapshot.ts";
import { compileGuardrails } from "./compile.ts";
import { screenCall, screenOutput, screenText } from "./inspect.ts";

const rule = (
  type: Guardrail["type"],
  config: Guardrail["config"],
  action: GuardrailAction = "redact",
  on: GuardrailPoint[] = ["input", "output", "tool_call", "tool_output"],
): Guardrail => ({ type, on, action, config });

const input = (text: string, ...list: Guardrail[]) => screenText(compileGuardrails(list), "input", text);
const call = (args: Record<string, unknown>, ...list: Guardrail[]) =>
  screenCall(compileGuardrails(list), { tool: "send", arguments: args });
const output = (value: unknown, ...list: Guardrail[]) => screenOutput(compileGuardrails(list), value);

describe("a text", () => {
  test("redactions are removed and reported with their number", () => {
    const { value, triggered, blocked } = input(
      "a@b.com and c@d.org, AKIAIOSFODNN7EXAMPLE",
      rule("pii", {}),
      rule("secrets", {}),
    );
    expect(value).toBe("[email] and [email], [secret]");
    expect(triggered.map(({ guardrail, matches }) => [guardrail.index, guardrail.type, matches])).toEqual([
      [0, "pii", 2],
      [1, "secrets", 1],
    ]);
    expect(blocked).toBeNull();
  });

  test("the first blocking guardrail blocks it; flagging changes nothing", () => {
    const list = [
      rule("regex", { pattern: "a" }, "flag"),
      rule("regex", { pattern: "b" }, "block"),
      rule("regex", { pattern: "c" }, "block"),
    ];
    expect(input("abc", ...list)).toMatchObject({ value: "abc", blocked: { guardrail: { index: 1, on: "input" } } });
    expect(input("a", ...list)).toMatchObject({ blocked: null, triggered: [{ verdict: "flagged" }] });
  });

  test("overlapping redactions become one mark", () => {
    const list = [
      rule("regex", { pattern: "b.*d" }),
      rule("blocked_terms", { terms: ["abc"] }),
      rule("regex", { pattern: "e" }),
    ];
    expect(input("-abcde-", ...list).value).toBe("-[removed]-");
  });

  test("it is cut at its maximum length, between characters", () => {
    expect(input("a😀bc", rule("max_length", { max_length: 2 })).value).toBe("a😀");
    expect(input("a😀", rule("max_length", { max_length: 2 }, "block")).blocked).toBeNull();
    expect(input("a😀b", rule("max_length", { max_length: 2 }, "block")).blocked).not.toBeNull();
  });

  test("a schema requires valid JSON that fits it", () => {
    const list = [rule("json_schema", { schema: { type: "object", required: ["a"] } }, "block")];
    expect(input('{"a": 1}', ...list).blocked).toBeNull();
    for (const text of ["{}", "no JSON", ""]) expect(input(text, ...list).blocked).not.toBeNull();
  });

  test("only guardrails of the point are applied", () => {
    expect(input("abc", rule("regex", { pattern: "b" }, "block", ["output"])).triggered).toEqual([]);
  });
});

describe("arguments and outputs", () => {
  test("redaction keeps their shape: strings, keys and numbers are redacted", () => {
    const value = { to: ["a@b.com", { "c@d.org": 4111111111111111, "e@f.org": 1, n: 5, ok: true, none: null }] };
    expect(output(value, rule("pii", {}))).toMatchObject({
      value: { to: ["[email]", { "[email]": "[credit_card]", "[email]_2": 1, n: 5, ok: true, none: null }] },
      triggered: [{ matches: 4 }],
    });
    expect(output(value, rule("secrets", {})).value).toEqual(value);
  });

  test("redacted keys stay distinct", () => {
    const value = JSON.parse('{"__proto__": "a@b.com"}');
    expect(JSON.stringify(output(value, rule("pii", {})).value)).toBe('{"__proto__":"[email]"}');
  });

  test("they are cut as the text that the model reads", () => {
    expect(output("abcd", rule("max_length", { max_length: 3 })).value).toBe("abc");
    expect(output({ a: "bcd" }, rule("max_length", { max_length: 5 })).value).toBe('{"a":');
    expect(output({ a: 1 }, rule("max_length", { max_length: 7 })).value).toEqual({ a: 1 });
  });

  test("a schema applies to them", () => {
    const schema = { type: "object", properties: { amount: { type: "number", maximum: 100 } } };
    expect(call({ amount: 5 }, rule("json_schema", { schema }, "require_approval")).needs_approval).toBe(false);
    expect(call({ amount: 500 }, rule("json_schema", { schema }, "require_approval"))).toMatchObject({
      needs_approval: true,
      triggered: [{ verdict: "approval_required", guardrail: { on: "tool_call" } }],
    });
  });

  test("only allowed tools may be called", () => {
    const allow = (...tools: string[]) => rule("tool_allowlist", { tools }, "block", ["tool_call"]);
    expect(call({}, allow("send")).blocked).toBeNull();
    expect(call({}, allow("other")).blocked).toMatchObject({ message: "The tool is not allowed." });
    expect(call({}, allow()).blocked).not.toBeNull();
  });

  test("addresses that are not allowed are found", () => {
    const list = [rule("url_allowlist", { hosts: ["good.com"] }, "block")];
    expect(call({ url: "https://good.com/" }, ...list).blocked).toBeNull();
    expect(call({ deep: [{ url: "https://good.com@evil.com/" }] }, ...list).blocked).not.toBeNull();
  });
});

test("no message repeats the text that was found", () => {
  const found = "hunter2@example.com";
  const all = [
    rule("regex", { pattern: "hunter2" }),
    rule("pii", {}),
    rule("blocked_terms", { terms: ["hunter2"] }),
    rule("json_schema", { schema: { additionalProperties: false } }, "flag"),
  ];
  expect(JSON.stringify(output({ [found]: found }, ...all).triggered)).not.toContain("hunter2");
});

test("32 guardrails search 256 KB before this test's deadline", () => {
  const list = Array.from({ length: 8 }, (_, i) => [
    rule("regex", { pattern: `\\bproject-${i}[a-z]+-\\d{4}\\b` }, "block"),
    rule("blocked_terms", { terms: [`forbidden${i}`, `secret plan ${i}`] }, "block"),
    rule("secrets", {}, "block"),
    rule("url_allowlist", { hosts: ["good.com"] }, "block"),
  ]).flat();
  const text = "The quick brown fox jumps over the lazy dog, see https://good.com/a. ".repeat(3800);
  expect(input(text, ...list).triggered).toEqual([]);
  screenText(compileGuardrails(list), "input", text);
}, 60_000);
