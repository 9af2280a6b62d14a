import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Guardrail, GuardrailAction } from "../../domain/agent-snapshot.ts";
import { checkGuardrails } from "./check.ts";
import { compileGuardrails } from "./compile.ts";
import { screenText } from "./inspect.ts";
import { createOutputGate } from "./output-gate.ts";

const rule = (type: Guardrail["type"], config: Guardrail["config"], action: GuardrailAction = "redact"): Guardrail => ({
  type,
  on: ["output"],
  action,
  config,
});

/** Sends the pieces through the gate; returns the output after each piece and the end, until one blocks. */
function send(list: Guardrail[], pieces: readonly string[]) {
  const gate = createOutputGate(compileGuardrails(list));
  const sent: string[] = [];
  for (const piece of pieces) {
    const { text, blocked } = gate.push(piece);
    sent.push(text);
    if (blocked) return { sent, text: sent.join(""), blocked, redacted: gate.redacted() };
  }
  const { text, blocked } = gate.end();
  sent.push(text);
  return { sent, text: sent.join(""), blocked, redacted: gate.redacted() };
}

const iban = "DE89 3704 0044 0532 0130 00";
const pem = "-----BEGIN PRIVATE KEY-----\nMIIE\nabc=\n-----END PRIVATE KEY-----";
const words = [
  "a",
  "b",
  "forbidden",
  "ｆｏｒ",
  "bid\u00adden",
  "é",
  "e\u0301",
  " ",
  " ",
  "\n",
  "-",
  ".",
  "@",
  "a@b.com",
  "😀",
  "\ud83d",
  "1",
  "22",
];
const risky = [
  "4111 1111 1111 1111",
  iban,
  "212-555-1234",
  "078-05-1120",
  "10.0.0.1",
  "AKIAABCDEFGHIJKLMNOP",
  pem,
  "sk_live_0123456789abcdefXY",
  "378282246310005",
  "5500-0000-0000-0004",
  "NO93 8601 1117 947",
  "0049 30 901820",
  "+49 30 901820",
];
const near = ["0", "9", "22", "4", " ", " ", "-", "00 ", "+1 ", "DE89 ", "AB12 "];
const links = ["https://", "good.com", "evil.com", "/x", "//", "(", ")", "www.", ":", "]"];
const texts = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...words) },
      fc.constantFrom(...risky),
      fc.constantFrom(...near),
      fc.constantFrom(...links),
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(""));
const configs: [Guardrail["type"], Guardrail["config"]][] = [
  ["regex", { pattern: "a+b" }],
  ["regex", { pattern: "\\bforb?" }],
  ["regex", { pattern: "(?m)^.*22$" }],
  ["regex", { pattern: "1.{0,5}2\\b" }],
  ["regex", { pattern: "b\\z" }],
  ["regex", { pattern: "😀|\\s{2}" }],
  ["blocked_terms", { terms: ["forbidden", "b 1", "e"] }],
  ["blocked_terms", { terms: ["BID", "den a"] }],
  ["pii", {}],
  ["pii", { kinds: ["email", "credit_card"] }],
  ["secrets", {}],
  ["url_allowlist", { hosts: ["good.com"] }],
  ["max_length", { max_length: 9 }],
];
const rules = (...actions: GuardrailAction[]) =>
  fc
    .tuple(fc.constantFrom(...configs), fc.constantFrom(...actions))
    .map(([[type, config], action]) => rule(type, config, action));

/** A text with random cuts, also between the halves of a surrogate pair. */
const cutTexts = fc.tuple(texts, fc.array(fc.nat({ max: 80 }), { maxLength: 8 })).map(([text, cuts]) => {
  const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((end, i) => text.slice(places[i]!, end));
});

test("however a text is split, the gate sends the screened whole", () => {
  fc.assert(
    fc.property(fc.array(rules("redact", "redact", "flag"), { maxLength: 4 }), cutTexts, (list, pieces) => {
      const whole = screenText(compileGuardrails(list), "output", pieces.join(""));
      const { text, blocked, redacted } = send(list, pieces);
      expect({ text, blocked }).toEqual({ text: whole.value, blocked: null });
      expect(redacted).toEqual(whole.triggered.filter(({ verdict }) => verdict === "redacted"));
    }),
    { numRuns: 3000 },
  );
});

test("however a text is split, it is blocked at the same place, and neither blocked nor redacted text was sent", () => {
  fc.assert(
    fc.property(fc.array(rules("redact", "block"), { minLength: 1, maxLength: 4 }), cutTexts, (list, pieces) => {
      const text = pieces.join("");
      const compiled = compileGuardrails(list);
      const atOnce = send(list, [text]);
      const inPieces = send(list, pieces);
      const oneByOne = send(list, text.split(""));
      expect(inPieces.text).toBe(atOnce.text);
      expect(oneByOne.text).toBe(atOnce.text);
      expect(inPieces.blocked).toEqual(atOnce.blocked);
      expect(oneByOne.blocked).toEqual(atOnce.blocked);
      expect(atOnce.blocked === null).toBe(screenText(compiled, "output", text).blocked === null);
    }),
    { numRuns: 3000 },
  );
});

test("blocked text and all text after it is not sent", () => {
  fc.assert(
    fc.property(rules("block"), cutTexts, (guardrail, pieces) => {
      const { text, blocked } = send([guardrail], pieces);
      const whole = pieces.join("");
      const places = compileGuardrails([guardrail])[0]!
        .places.flatMap(({ detector }) => detector.search(whole))
        .sort((a, b) => a[0] - b[0]);
      expect(whole.startsWith(text)).toBe(true);
      expect(blocked !== null).toBe(places.length > 0);
      expect(text.length).toBeLessThanOrEqual(places[0]?.[0] ?? whole.length);
    }),
    { numRuns: 2000 },
  );
});

test("released text is a prefix of the result for every continuation", () => {
  fc.assert(
    fc.property(fc.array(rules("redact"), { minLength: 1, maxLength: 3 }), texts, texts, (list, text, more) => {
      const gate = createOutputGate(compileGuardrails(list));
      const released = gate.push(text).text;
      for (const whole of [text, text + more, `${text}a`])
        expect(screenText(compileGuardrails(list), "output", whole).value.startsWith(released)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

describe("a number is found whatever surrounds it and however the text is split", () => {
  const card = "4111 1111 1111 1111";
  // Text, expected output, number of matches.
  const cases: [string, string, number][] = [
    [`22 ${card}`, "[credit_card]", 1], // 22 4111 1111 1111 is a card number too: two that overlap are one.
    [`${card} 22`, "[credit_card] 22", 1],
    [`22 ${card} 22`, "[credit_card] 22", 1],
    ["1 4111-1111-1111-1111 9", "1 [credit_card] 9", 1],
    ["12 34 5500 0000 0000 0004 56", "12 [credit_card] 56", 1],
    [`${card} ${card}`, "[credit_card] [credit_card]", 2],
    [`${card}, 5500 0000 0000 0004`, "[credit_card], [credit_card]", 2],
    [`22 ${iban}`, "22 [iban]", 2], // It contains a phone number.
    [`AB12 ${iban} ${card}`, "AB12 [iban] [credit_card]", 3],
    [`NO93 8601 1117 947 ${iban}`, "[iban] [iban]", 3],
    [`${iban} NO93 8601 1117 947`, "[iban] [iban]", 3],
    ["22 212-555-1234", "22 [phone]", 1],
    ["00 22 0049 30 901820", "00 22 [phone]", 1],
    [`+1 212-555-1234 ${card}`, "[phone]", 2],
    ["212-555-1234 078-05-1120", "[phone] [ssn]", 2],
    [`${card} 212-555-1234`, "[credit_card] [phone]", 2],
  ];
  test.each(cases)("%p", (text, expected, matches) => {
    const redact = rule("pii", {});
    const block = rule("pii", {}, "block");
    const whole = screenText(compileGuardrails([redact]), "output", text);
    expect([whole.value, whole.triggered[0]?.matches]).toEqual([expected, matches]);
    const cuts = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
    for (const pieces of [[text], text.split(""), ...cuts]) {
      const { text: sent, redacted } = send([redact], pieces);
      expect({ sent, redacted }).toEqual({ sent: expected, redacted: whole.triggered });
      const stopped = send([block], pieces);
      expect(stopped.blocked).not.toBeNull();
      expect(expected.slice(0, expected.indexOf("["))).toStartWith(stopped.text);
    }
  });
});

describe("text is withheld no longer than necessary", () => {
  const cases: [string, Guardrail, string[], string[]][] = [
    [
      "nothing where no match can begin",
      rule("regex", { pattern: "\\d{4}" }),
      ["Hello ", "you 12", "3x"],
      ["Hello ", "you ", "123x", ""],
    ],
    [
      "as far as a bounded match reaches",
      rule("regex", { pattern: "a.{3}b" }),
      ["xa12", "34", "5"],
      ["x", "a1234", "5", ""],
    ],
    [
      "a match that cannot end otherwise is gone at once",
      rule("regex", { pattern: "foo" }),
      ["a fo", "o b"],
      ["a ", "[removed] b", ""],
    ],
    [
      "the last word for an address",
      rule("pii", { kinds: ["email"] }),
      ["to a", "@b.c", "om now"],
      ["to ", "", "[email] ", "now"],
    ],
    [
      "a term as far as it has come",
      rule("blocked_terms", { terms: ["forbidden"] }),
      ["a for", "m of forb", "idden!"],
      ["a ", "form of ", "[removed]!", ""],
    ],
    [
      "a line's end for an edge",
      rule("regex", { pattern: "(?m)x$" }),
      ["ax", "y x", "\n"],
      ["a", "xy ", "[removed]\n", ""],
    ],
    [
      "to the end what may go on for ever",
      rule("regex", { pattern: "(?s)x.*y" }),
      ["ax1", "2", "3"],
      ["a", "", "", "x123"],
    ],
    ["nothing for a flag", rule("regex", { pattern: "(?s)x.*y" }, "flag"), ["ax1", "y"], ["ax1", "y", ""]],
    [
      "all for a schema",
      rule("json_schema", { schema: { type: "object" } }, "block"),
      ['{"a"', ":1}"],
      ["", "", '{"a":1}'],
    ],
    ["all for a judge", rule("llm_judge", { prompt: "p" }, "block"), ["a", "b"], ["", "", "ab"]],
    ["nothing for a judge who only flags", rule("llm_judge", { prompt: "p" }, "flag"), ["a", "b"], ["a", "b", ""]],
    ["half a character", rule("regex", { pattern: "x" }), ["a\ud83d", "\ude00"], ["a", "😀", ""]],
    ["nothing beyond the length", rule("max_length", { max_length: 3 }), ["ab", "😀d", "e"], ["ab", "😀", "", ""]],
  ];
  test.each(cases)("%s", (_, guardrail, pieces, expected) => {
    expect(checkGuardrails([guardrail])).toEqual([]);
    expect(send([guardrail], pieces).sent).toEqual(expected);
  });
});

describe("a blocking guardrail", () => {
  test("the redacted text before the violation is sent, and the guardrail is reported", () => {
    const list = [rule("pii", { kinds: ["email"] }), rule("blocked_terms", { terms: ["forbidden"] }, "block")];
    const { text, blocked, redacted } = send(list, ["Ask a@b.com of forb", "idden fruit."]);
    expect(text).toBe("Ask [email] of ");
    expect(blocked).toEqual({
      guardrail: { index: 1, type: "blocked_terms", on: "output" },
      verdict: "blocked",
      message: "It has a blocked term.",
      matches: 1,
    });
    expect(redacted).toMatchObject([{ guardrail: { index: 0 }, verdict: "redacted", matches: 1 }]);
  });

  test("nothing is sent if a guardrail judges the whole text", () => {
    const list = [
      rule("json_schema", { schema: { type: "object" } }, "block"),
      rule("regex", { pattern: "x" }, "block"),
    ];
    expect(send(list, ["{}", "x"])).toMatchObject({ text: "", blocked: { guardrail: { index: 1 } } });
    expect(send(list, ["{", "]"])).toMatchObject({ text: "", blocked: { guardrail: { index: 0 } } });
  });

  test("text pushed after a block is dropped", () => {
    const gate = createOutputGate(compileGuardrails([rule("regex", { pattern: "x" }, "block")]));
    expect(gate.push("ax").blocked).not.toBeNull();
    expect([gate.push("more"), gate.end()]).toEqual([
      { text: "", blocked: null },
      { text: "", blocked: null },
    ]);
  });
});

test("a text of 1 MB in words passes before this test's deadline", () => {
  const list = configs.map(([type, config]) => rule(type, config)).filter(({ type }) => type !== "max_length");
  const gate = createOutputGate(compileGuardrails(list));
  let length = 0;
  for (let i = 0; i < 170_000; i++) length += gate.push("words ").text.length;
  length += gate.end().text.length;
  expect(length).toBeGreaterThan(900_000);
}, 60_000);
