import { jsonOrText } from "../../lib/json.ts";
import type { ApiMessage } from "../conversations.ts";

interface UiMessage {
  id: string;
  role: "user" | "assistant";
  parts: object[];
}

/** Converts a chat to UI messages, oldest first. All messages of a run become one, with the run's id. */
export function uiMessages(recorded: readonly ApiMessage[]): UiMessage[] {
  const outputs = new Map(
    recorded.flatMap(({ tool_call_id, content }) => (tool_call_id ? [[tool_call_id, content]] : [])),
  );
  const messages: UiMessage[] = [];
  for (const { id: own, role, content, tool_calls = [], run_id } of recorded) {
    const text = content === "" ? [] : [{ type: "text", text: content, state: "done" }];
    if (role === "user") messages.push({ id: own, role, parts: text });
    if (role !== "assistant") continue;
    const calls = tool_calls.map(({ id: toolCallId, name, arguments: input }) => ({
      type: `tool-${name}`,
      toolCallId,
      state: "output-available",
      input,
      providerExecuted: true,
      output: outputIn(outputs.get(toolCallId) ?? ""),
    }));
    const parts = [{ type: "step-start" }, ...text, ...calls];
    const id = run_id ?? own;
    const last = messages.at(-1);
    if (last?.id === id) last.parts.push(...parts);
    else messages.push({ id, role, parts });
  }
  return messages;
}

/** Parses an output for models: JSON if it is an object or a list. */
const outputIn = (text: string): unknown => (/^[[{]/.test(text) ? jsonOrText(text) : text);
