import { omitUndefined, readChoice, readForm } from "../../lib/page-search.ts";

export const startSteps = ["key", "agent", "run"] as const;
export type StartStep = (typeof startSteps)[number];

/** The query parameters of the guide. */
export interface StartSearch {
  step?: StartStep;
  /** Id of the created agent. */
  agent?: string;
}

/** Reads the query parameters. Drops invalid values and the default step. */
export function readStartSearch(search: Record<string, unknown>): StartSearch {
  const step = readChoice(search.step, startSteps);
  return omitUndefined({ step: step === "key" ? undefined : step, agent: readForm(search.agent, /^agt_\w+$/) });
}
