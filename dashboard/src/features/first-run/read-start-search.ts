import { given, readChoice, readForm } from "../../lib/page-search.ts";

export const startSteps = ["key", "agent", "run"] as const;
export type StartStep = (typeof startSteps)[number];

/** What the address of the guide holds. */
export interface StartSearch {
  step?: StartStep;
  /** The agent that was made. */
  agent?: string;
}

/** Reads it; what is none is left out. */
export function readStartSearch(search: Record<string, unknown>): StartSearch {
  const step = readChoice(search.step, startSteps);
  return given({ step: step === "key" ? undefined : step, agent: readForm(search.agent, /^agt_\w+$/) });
}
