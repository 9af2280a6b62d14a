import type { ToolDraft } from "./tool-draft.ts";

/** What the form calls each field of a tool as the API has it. */
const fieldWords: Partial<Record<string, string>> = {
  parameters: "schema of the arguments",
  approval: "approval",
  on_unknown: "what follows a crash",
  max_output_bytes: "most output",
  enabled: "whether new runs may call it",
  url: "address",
  server_url: "address",
  timeout_ms: "timeout",
  retries: "how often it is tried again",
  idempotent: "whether a repeated call is safe",
  response: "kind of answer",
  memory_mb: "memory",
  allowed_tools: "allowed tools",
  agent_id: "asked agent",
} satisfies Partial<Record<keyof ToolDraft, string>>;

/** Fields of a tool, in the form's words. */
export const toolWords = (fields: readonly string[]): string[] => fields.map((field) => fieldWords[field] ?? field);
