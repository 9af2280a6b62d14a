import type { CommonDraft } from "./types/tool-part.ts";
import { shownTypes, toolParts } from "./types/tool-parts.ts";

const common: Partial<Record<keyof CommonDraft, string>> = {
  parameters: "schema of the arguments",
  approval: "approval",
  on_unknown: "what follows an unknown outcome",
  max_output_bytes: "most output",
  enabled: "whether new runs may call it",
  timeout_ms: "timeout",
};

/** What the form calls each field of a tool as the API has it. */
const fieldWords: Record<string, string> = Object.assign(
  {},
  common,
  ...shownTypes.map((type) => toolParts[type].words),
);

/** Fields of a tool, in the form's words. */
export const toolWords = (fields: readonly string[]): string[] => fields.map((field) => fieldWords[field] ?? field);
