import { requireValue } from "../lib/require-value.ts";
import type { AssistantPart, PromptMessage } from "./model-call.ts";
import { conversation, toolMessage } from "./prompt.ts";
import type { AttachedDocument } from "./run-event.ts";
import type { EarlierMessage } from "./run-input.ts";
import { type CallOf, callsById, messageObject } from "./run-object.ts";
import { earlierMessage, isResolved, type Message, type RunState } from "./run-state.ts";

/** A message of a finished run, as its thread stores it. */
export interface ThreadMessage {
  id: string;
  at: number;
  /** For clients. */
  message: ReturnType<typeof messageObject> & { files?: ShownFile[] };
  /** For the models of later runs. */
  prompt: PromptMessage;
}

/** A document of a message. */
type ShownFile = Pick<AttachedDocument, "file_id" | "filename" | "mime_type">;

type Assistant = Extract<Message, { role: "assistant" }>;

/**
 * Returns the messages that a run adds to its thread, however it ended: each answer is followed by the results of its
 * calls; calls without a result, which providers refuse, are left out. Empty if a guardrail blocked the input; without
 * the message that a guardrail blocked while the run was under way.
 */
export function threadMessages({ messages: all, calls, error, run, documents, decisions }: RunState): ThreadMessage[] {
  const isBlocked = error?.code === "guardrail_blocked" && error.guardrail?.on === "input";
  const blocked = isBlocked ? decisions.find(({ verdict }) => verdict === "blocked")?.message_id : undefined;
  if (isBlocked && blocked === undefined) return [];
  const messages = blocked === undefined ? all : all.filter(({ id }) => id !== blocked);
  const results = new Map(
    messages.flatMap((message) => (message.role === "tool" ? [[message.tool_call_id, message]] : [])),
  );
  const callOf = callsById(calls);
  return messages.flatMap((message): ThreadMessage[] => {
    if (message.role === "user" || message.given) {
      const it = asSaid(message, callOf);
      const own = documents.filter(({ file_id }) => run.file_ids.includes(file_id));
      return [message.id === run.message_id ? { ...it, message: { ...it.message, ...filesOf(own) } } : it];
    }
    if (message.role === "tool") return [];
    const callIds = message.parts.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
    const answered = callIds.flatMap((id) => {
      const call = callOf(id);
      const result = results.get(id);
      return call && isResolved(call) && result ? [toThreadMessage(result, callOf, toolMessage(call))] : [];
    });
    const isWhole = answered.length === callIds.length;
    const kept = { ...message, parts: lasting(message, isWhole && !message.interrupted) };
    if (kept.parts.length === 0) return [];
    const prompt: PromptMessage = { role: "assistant", parts: kept.parts };
    return [toThreadMessage(kept, callOf, prompt), ...(isWhole ? answered : [])];
  });
}

/** Returns the documents of the run's input. Deleted ones have no name and are left out. */
function filesOf(documents: readonly AttachedDocument[]): { files?: ShownFile[] } {
  const files = documents.flatMap(({ file_id, filename, mime_type }) =>
    filename === "" ? [] : [{ file_id, filename, mime_type }],
  );
  return files.length === 0 ? {} : { files };
}

/** Returns a message that was added to a thread without a run. */
export const seededMessage = (given: EarlierMessage, at: number): ThreadMessage =>
  asSaid(earlierMessage(given, at), callsById([]));

/** Converts a message that was sent along, or is the user's. */
function asSaid(message: Message, callOf: CallOf): ThreadMessage {
  const [prompt] = conversation({ messages: [message], calls: [] });
  return toThreadMessage(message, callOf, requireValue(prompt, "The prompt of a message"));
}

const toThreadMessage = (message: Message, callOf: CallOf, prompt: PromptMessage): ThreadMessage => ({
  id: message.id,
  at: message.at,
  prompt,
  message: messageObject(message, callOf),
});

/** Removes reasoning and provider signatures, which are valid only for their run and one model. */
const lasting = ({ parts }: Assistant, withCalls: boolean): AssistantPart[] =>
  parts.flatMap((part): AssistantPart[] => {
    if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
    if (part.type === "reasoning" || !withCalls) return [];
    const { id, name, arguments: args } = part;
    return [{ type: "tool_call", id, name, arguments: args }];
  });
