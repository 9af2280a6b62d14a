import { type Static, Type } from "@sinclair/typebox";
import type { Fault } from "../../domain/errors.ts";
import type { ToolAnswer } from "../../domain/submit.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { JsonObject, Subject } from "../../http/schemas.ts";
import { lastItem } from "../../lib/collections.ts";
import { open } from "../../lib/schema.ts";
import type { CreateRun } from "../../runs/schema.ts";
import { runIn } from "./dialect.ts";

// Request body of `useChat`. Other fields are ignored, because applications add their own.

const Text = Type.String();

const Part = open({
  type: Text,
  text: Type.Optional(Text),
  mediaType: Type.Optional(Text),
  url: Type.Optional(Text),
  toolCallId: Type.Optional(Text),
  state: Type.Optional(Text),
  output: Type.Optional(Type.Unknown()),
  errorText: Type.Optional(Text),
  providerExecuted: Type.Optional(Type.Boolean()),
  preliminary: Type.Optional(Type.Boolean()),
  approval: Type.Optional(
    open({ approved: Type.Optional(Type.Boolean()), reason: Type.Optional(Type.String({ maxLength: 2000 })) }),
  ),
});
type Part = Static<typeof Part>;

const Message = open({ id: Type.Optional(Text), role: Text, parts: Type.Array(Part) });

/** Client's id of a chat; paths contain it too. */
const ChatId = Subject;

/** Body of `POST /ui/v1/agents/:id/chat`. */
export const SendMessages = open({
  id: ChatId,
  messages: Type.Array(Message, { minItems: 1 }),
  trigger: Type.Optional(Text),
  messageId: Type.Optional(Type.Union([Text, Type.Null()])),
  /** Fields of `POST /v1/runs`. */
  run: Type.Optional(JsonObject),
  user_id: Type.Optional(Subject),
});
export type SendMessages = Static<typeof SendMessages>;

type Content = Exclude<Exclude<CreateRun["input"], string>[number]["content"], string>;

/** A message of the user. */
export interface UserMessage {
  do: "say";
  input: CreateRun["input"];
  /** Index of the message in the request. */
  place: number;
  /**
   * Run to keep, null for none: later messages are removed, because a message was edited or its answer is regenerated.
   */
  keep?: string | null;
}

/** Answers to the calls of a run. */
export interface CallAnswers {
  do: "answer";
  /** Null if the message's id is not a run's. */
  run_id: string | null;
  /** Id of the assistant's message with the calls. */
  message_id: string | undefined;
  answers: ToolAnswer[];
  /** Path of each answer in the request. */
  places: string[];
}

/** Reads a request. Only its last message is new; the earlier ones are stored already. */
export function readMessages({ messages, trigger, messageId }: SendMessages): UserMessage | CallAnswers {
  // Calls of an earlier message are answered under its id.
  const named = messages.findLastIndex(({ id, role }) => role === "assistant" && id !== undefined && id === messageId);
  const place = named < 0 || trigger === "regenerate-message" ? messages.length - 1 : named;
  const { id, role, parts } = messages[place] ?? lastItem(messages);
  const at = `messages[${place}]`;
  if (role === "assistant") return { do: "answer", run_id: runIn(id), message_id: id, ...answersOf(parts, at) };
  if (role !== "user") throw invalid(`${at}.role`, "The last message is the user's or the assistant's.");
  const isRewound = trigger === "regenerate-message" || typeof messageId === "string";
  const earlier = messages.slice(0, place).findLast((message) => message.role === "assistant" && runIn(message.id));
  return {
    do: "say",
    input: inputOf(parts, at),
    place,
    ...(isRewound && { keep: runIn(earlier?.id) }),
  };
}

function inputOf(parts: readonly Part[], at: string): CreateRun["input"] {
  const faults: Fault[] = [];
  const content = parts.flatMap(({ type, text, mediaType, url }, index): Content => {
    if (type === "text") return [{ type, text: text ?? "" }];
    if (type !== "file") return []; // Applications add parts of their own.
    if (!mediaType?.startsWith("image")) faults.push(fault(`${at}.parts[${index}].mediaType`, "Must be an image."));
    else if (!url?.startsWith("data:"))
      faults.push(fault(`${at}.parts[${index}].url`, "Send the image itself: expected data:<type>;base64,<content>."));
    return [{ type: "image", data: url ?? "" }];
  });
  throwIfInvalid(faults);
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.length === content.length ? texts.join("\n") : [{ role: "user", content }];
}

function answersOf(parts: readonly Part[], at: string): Pick<CallAnswers, "answers" | "places"> {
  const first = parts.findLastIndex(({ type }) => type === "step-start") + 1;
  const answers: ToolAnswer[] = [];
  const places: string[] = [];
  for (const [index, part] of parts.entries()) {
    const answer = index < first ? null : answerOf(part);
    if (!answer) continue;
    answers.push(answer);
    places.push(`${at}.parts[${index}]`);
  }
  if (answers.length === 0)
    throw invalid(`${at}.parts`, "The last message answers no call, and the user says nothing.");
  return { answers, places };
}

function answerOf({
  type,
  toolCallId,
  state,
  output,
  errorText,
  providerExecuted,
  preliminary,
  approval,
}: Part): ToolAnswer | null {
  if (toolCallId === undefined || !(type.startsWith("tool-") || type === "dynamic-tool")) return null;
  if (state === "approval-responded" && approval?.approved !== undefined) {
    const reason = approval.reason !== undefined && { reason: approval.reason };
    return { tool_call_id: toolCallId, decision: approval.approved ? "approve" : "reject", ...reason };
  }
  if (providerExecuted || preliminary) return null;
  if (state === "output-available") return { tool_call_id: toolCallId, output: output ?? null };
  if (state === "output-error") return { tool_call_id: toolCallId, output: errorText ?? "", is_error: true };
  return null;
}
