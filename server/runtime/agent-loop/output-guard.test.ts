import { expect, test } from "bun:test";
import type { Guardrail, GuardrailAction } from "../../domain/agent-snapshot.ts";
import { createRandom } from "../../testing/random.ts";
import { compileGuardrails } from "../guardrails/compile.ts";
import { screenText } from "../guardrails/inspect.ts";
import { createOutputGuard, type Piece } from "./output-guard.ts";

const word = "swordfish";
const terms = (action: GuardrailAction): Guardrail => ({
  type: "blocked_terms",
  on: ["output"],
  action,
  config: { terms: [word] },
});

/** Returns all text of these pieces that is shown, until the end. */
async function hear(guardrails: Guardrail[], pieces: readonly Piece[], isFinal = true, isJson = false) {
  const screen = createOutputGuard(compileGuardrails(guardrails), { isJson });
  const early = pieces.flatMap(screen.push);
  const { rest, findings } = await screen.end(isFinal);
  const shown = [...early, ...rest];
  const textOf = (kind: Piece["kind"]) => shown.flatMap((piece) => (piece.kind === kind ? [piece.text] : [])).join("");
  return { screen, shown, early, findings, output: textOf("output"), reasoning: textOf("reasoning") };
}
const says = (text: string, part = 0): Piece => ({ part, kind: "output", text });
const thinks = (text: string, part = 0): Piece => ({ part, kind: "reasoning", text });

test("however an answer is split into pieces and parts, readers get the screened whole", async () => {
  const random = createRandom(1);
  const text = `One ${word} and ${word}${word}, a sword fish, s w o r d, swordfis, ${word}`;
  for (const action of ["redact", "block"] as const) {
    const list = [terms(action)];
    const whole = screenText(compileGuardrails(list), "output", text).value;
    for (let round = 0; round < 300; round++) {
      const pieces: Piece[] = [];
      for (let at = 0, part = 0; at < text.length; ) {
        const end = at + 1 + random.below(12);
        if (random.chance(0.3)) part++;
        pieces.push(says(text.slice(at, end), part));
        at = end;
      }
      const { output } = await hear(list, pieces);
      expect(output).toBe(action === "redact" ? whole : "One ");
    }
  }
});

test("reasoning is shown before the next part, redacted, and is not part of the answer's text", async () => {
  const pieces = [thinks("Hm, sword"), thinks("fish or swor"), says("I say swor", 1), says("d.", 1)];
  const { shown, reasoning, output, screen, findings } = await hear([terms("redact")], pieces);
  expect([reasoning, output]).toEqual(["Hm, [removed] or swor", "I say sword."]);
  expect(shown.map(({ kind }) => kind).lastIndexOf("reasoning")).toBeLessThan(
    shown.findIndex(({ part }) => part === 1),
  );
  expect(screen.changed()).toEqual([0]);
  expect(findings).toMatchObject([{ verdict: "redacted", matches: 1 }]);
});

test("reasoning has no limits on shape and length, and is withheld like the answer if a judge decides", async () => {
  const judge: Guardrail = { type: "llm_judge", on: ["output"], action: "block", config: { prompt: "x" } };
  const shape: Guardrail = {
    type: "json_schema",
    on: ["output"],
    action: "block",
    config: { schema: { type: "object" } },
  };
  const length: Guardrail = { type: "max_length", on: ["output"], action: "block", config: { max_length: 3 } };
  const pieces = [thinks("A long thought."), thinks("Another.", 1), says("{}", 2)];
  expect((await hear([shape, length], pieces)).reasoning).toBe("A long thought.Another.");
  const judged = await hear([judge], pieces);
  expect(judged.early).toEqual([]);
  expect(judged.shown.map(({ text }) => text)).toEqual(["A long thought.", "Another.", "{}"]);
});

test("an answer with tool calls need not fit the output schema", async () => {
  const shape = (action: GuardrailAction): Guardrail => ({
    type: "json_schema",
    on: ["output"],
    action,
    config: { schema: { type: "object" } },
  });
  for (const action of ["block", "flag"] as const) {
    expect((await hear([shape(action)], [says("Wait.")], false)).findings).toEqual([]);
    expect((await hear([shape(action)], [says("Wait.")])).findings).toHaveLength(1);
  }
});

test("an empty answer does not fit the shape", async () => {
  const shape = (action: GuardrailAction): Guardrail => ({
    type: "json_schema",
    on: ["output"],
    action,
    config: { schema: { type: "object" } },
  });
  for (const pieces of [[], [thinks("Hm.")]]) {
    expect((await hear([shape("block")], pieces)).findings).toMatchObject([{ verdict: "blocked" }]);
    expect((await hear([shape("flag")], pieces)).findings).toMatchObject([{ verdict: "flagged" }]);
    expect((await hear([shape("block")], pieces, false)).findings).toEqual([]);
  }
});

test("text hidden by JSON escapes is found, wherever it is split", async () => {
  const text = String.raw`{"said": "s\u0077ord\u0066ish"}`;
  for (let cut = 1; cut < text.length; cut++) {
    const pieces = [says(text.slice(0, cut)), says(text.slice(cut), 1)];
    const { output, screen } = await hear([terms("redact")], pieces, true, true);
    expect(JSON.parse(output)).toEqual({ said: "[removed]" });
    expect(screen.changed().length).toBeGreaterThan(0);
    expect((await hear([terms("block")], pieces, true, true)).output).toBe('{"said": "');
  }
});
