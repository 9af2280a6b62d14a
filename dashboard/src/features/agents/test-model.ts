import { exampleArguments } from "../../lib/example-arguments.ts";

const deeds: Record<string, string> = {
  "test/echo": "repeats the input",
  "test/script": "plays a script, with tool calls",
  "test/timeout": "never answers",
  "test/rate-limited": "is always rate limited",
  "test/malformed-tool-args": "calls its first tool with broken JSON",
  "test/loops-forever": "calls its first tool again and again",
  "test/context-overflow": "finds the conversation too long",
  "test/refusal": "declines",
  "test/judge": "judges for guardrails",
};

/** What a built-in model does, in a few words; nothing of a provider's. */
export const deedOf = (model: string): string | undefined => deeds[model.trim()];

/** A script for `test/script` that calls each of these tools once and then answers, to begin with. */
export function exampleScript(tools: readonly { name: string; parameters?: unknown }[]): string {
  const tool_calls = tools.map(({ name, parameters }) => ({ name, arguments: exampleArguments(parameters) }));
  const ask = tool_calls.length > 0 ? [{ text: "Let me look that up.", tool_calls }] : [];
  return JSON.stringify([...ask, { text: "Here is my answer.", delta_ms: 40 }], null, 2);
}
