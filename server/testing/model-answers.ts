import type { AssistantPart, ModelError, ModelEvent } from "../runtime/models/model.ts";

/** Returns the answer's text, or its reasoning. */
export const outputOf = (all: readonly ModelEvent[], kind = "output"): string =>
  all.map((event) => (event.type === "delta" && event.kind === kind ? event.text : "")).join("");

/** Returns the answer's tool calls: part, name and arguments. */
export const callsOf = (all: readonly ModelEvent[]) =>
  all.flatMap((event) => (event.type === "tool_call" ? [[event.part, event.name, event.arguments]] : []));

/** Returns the error with which the answer ended. Throws if it ended otherwise. */
export function errorOf(all: readonly ModelEvent[]): ModelError {
  const last = all.at(-1);
  if (last?.type !== "error") throw new Error(`ended with ${last?.type}`);
  return last.error;
}

/** Collects the parts of an answer, as the loop sends them back; its calls get ids of ours. */
export function partsOf(all: readonly ModelEvent[]): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const event of all) {
    if (event.type === "delta") {
      const type = event.kind === "output" ? ("text" as const) : event.kind;
      const before = parts[event.part];
      parts[event.part] = { ...before, type, text: `${before && "text" in before ? before.text : ""}${event.text}` };
    } else if (event.type === "metadata") parts[event.part] = { ...parts[event.part]!, metadata: event.metadata };
    else if (event.type === "tool_call") {
      const { part, name, arguments: args, metadata } = event;
      parts[part] = { type: "tool_call", id: `call_${part}`, name, arguments: args, ...(metadata && { metadata }) };
    }
  }
  return parts;
}
