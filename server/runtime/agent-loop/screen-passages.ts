import { type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import type { RetrievedPassage } from "../../domain/run-event.ts";
import { type CompiledGuardrails, compileGuardrails, guardrailsOn, withoutKinds } from "../guardrails/compile.ts";
import { searchInSlices } from "../guardrails/in-slices.ts";
import { screenOutput } from "../guardrails/inspect.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { RunContext } from "./run-context.ts";

interface ScreenedPassages {
  passages: RetrievedPassage[];
  findings: Finding[];
}

/** Applies tool-output guardrails to passages, because they are external content too. Shape is not checked. */
export async function screenPassages(passages: RetrievedPassage[], context: RunContext): Promise<ScreenedPassages> {
  const list = withoutKinds(compileGuardrails(context.start.agent.guardrails ?? []), "shape");
  if (passages.length === 0 || guardrailsOn(list, "tool_output").length === 0) return { passages, findings: [] };
  const texts = passages.flatMap(({ text, heading, filename }) => [text, heading ?? "", filename ?? ""]);
  const known = await searchInSlices(list, "tool_output", texts);
  const screened = screenAll(passages, known);
  if (screened.findings.some(isBlocked)) return screened;
  const all = screened.passages.map(({ text }) => text).join("\n\n");
  const verdicts = await askJudges(judgesOn(context, "tool_output"), "tool_output", all, context);
  return { ...screened, findings: [...screened.findings, ...verdicts] };
}

function screenAll(passages: readonly RetrievedPassage[], known: CompiledGuardrails): ScreenedPassages {
  // Length limits apply to passages, not to their headings and filenames.
  const ofNames = withoutKinds(known, "length");
  const findings = new Map<number, Finding>();
  const screen = <T extends string | null>(text: T, list: CompiledGuardrails): T => {
    if (text === null) return text;
    const { value, triggered } = screenOutput(list, text);
    for (const one of triggered) {
      const { index } = one.guardrail;
      findings.set(index, { ...one, matches: (findings.get(index)?.matches ?? 0) + one.matches });
    }
    return value as T;
  };
  const left = passages.map((passage) => ({
    ...passage,
    text: screen(passage.text, known),
    heading: screen(passage.heading, ofNames),
    filename: screen(passage.filename, ofNames),
  }));
  return { passages: left, findings: [...findings.values()] };
}
