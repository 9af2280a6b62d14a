import { exampleArguments } from "../../lib/example-arguments.ts";

const behaviors: Record<string, string> = {
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

/** Returns what a built-in test model does, or undefined for any other model. */
export const behaviorOf = (model: string): string | undefined => behaviors[model.trim()];

/** Returns an example script for `test/script`: it calls each of these tools once, then answers. */
export function exampleScript(tools: readonly { name: string; parameters?: unknown }[]): string {
  const tool_calls = tools.map(({ name, parameters }) => ({ name, arguments: exampleArguments(parameters) }));
  const ask = tool_calls.length > 0 ? [{ text: "Let me look that up.", tool_calls }] : [];
  return JSON.stringify([...ask, { text: "Here is my answer.", delta_ms: 40 }], null, 2);
}
