import type { AgentSnapshot } from "./agent-snapshot.ts";

/** Returns the models of an agent's judges that differ from its own. */
export const judgeModels = ({ model, guardrails = [] }: Pick<AgentSnapshot, "model" | "guardrails">): string[] => [
  ...new Set(
    guardrails.flatMap(({ type, config }) =>
      type === "llm_judge" && typeof config.model === "string" && config.model !== model ? [config.model] : [],
    ),
  ),
];
