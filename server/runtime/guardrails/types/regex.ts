import { compile, patternFault, patternLimits, patternSteps } from "../pattern/pattern.ts";
import type { Complain, GuardrailKind } from "./guardrail-kind.ts";

/** Finds matches of a pattern in RE2's syntax. */
export const kind: GuardrailKind = {
  about: "text",
  required: { pattern: checkPattern },
  places: ({ pattern }) => [{ detector: compile(pattern as string), mark: "[removed]" }],
  message: () => "It matches the pattern.",
  takes: ({ pattern }) => ({ steps: usableSteps(pattern) }),
};

function checkPattern(value: unknown, path: string, complain: Complain): void {
  const fault = typeof value === "string" && value !== "" ? patternFault(value) : "it is no text";
  if (fault) complain(path, `Must be a pattern of RE2's syntax: ${fault}.`);
}

function usableSteps(pattern: unknown): number {
  const steps = typeof pattern === "string" ? (patternSteps(pattern) ?? 0) : 0;
  return steps > patternLimits.steps ? 0 : steps; // A pattern over the limit is reported separately.
}
