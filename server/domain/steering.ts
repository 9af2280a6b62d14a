import type { GuardrailDecided, RunSteered } from "./run-event.ts";
import { mediaOfMessage } from "./run-input.ts";
import type { Message, OpenStep, RunState } from "./run-state.ts";
import { stepKinds } from "./step-kinds.ts";

// Steering: messages of the user that come while the run is under way. The prompt of an open model call is recorded by
// its hash and sent again by a retry, so that a message which comes meanwhile is held until the call has ended.

/** A finding in such a message that has no decision in the journal yet. */
export type SteeredFinding = NonNullable<RunSteered["findings"]>[number] & { message_id: string };

/** A message that is held until the open model call has ended. */
export type HeldMessage = SteeredMessage & { interrupt?: true };
export type SteeredMessage = Extract<Message, { role: "user" }>;

interface Conversation {
  messages: Message[];
  open: OpenStep[];
  is_continued?: boolean;
  held?: HeldMessage[];
  unrecorded?: SteeredFinding[];
}

/** Number of messages that may wait for the next model call. */
export const steeredMost = 30;

type Add = (list: Message[], item: Message) => Message[];

/** Returns the change that a message makes. */
export function takeSteered(state: Conversation, event: RunSteered, at: number, add: Add): Partial<Conversation> {
  const { message_id, content, interrupt, findings = [] } = event;
  const message: SteeredMessage = {
    role: "user",
    id: message_id,
    at,
    content,
    ...mediaOfMessage(event),
    steered: true,
  };
  const unrecorded = [...(state.unrecorded ?? []), ...findings.map((finding) => ({ ...finding, message_id }))];
  return {
    ...(findings.length > 0 && { unrecorded }),
    ...(isHeldBack(state)
      ? { held: [...(state.held ?? []), { ...message, ...(interrupt && { interrupt }) }] }
      : { messages: add(state.messages, message) }),
  };
}

/** Returns the messages with the held ones, which the next model call has. Call it once the open call has ended. */
export function releaseHeld({ messages, held = [] }: Conversation, add: Add): Partial<Conversation> {
  if (held.length === 0) return {};
  return { messages: held.reduce((list, { interrupt: _, ...message }) => add(list, message), messages), held: [] };
}

/** Returns the change that the end of a model call makes: the held messages follow, unless the answer is to go on. */
export function afterCall(state: Conversation, isCancelled: boolean, add: Add): Partial<Conversation> {
  const { held = [], is_continued = false } = state;
  if (held.length === 0) return {};
  if (!is_continued || isCancelled) return { ...releaseHeld(state, add), ...(is_continued && { is_continued: false }) };
  return { held: held.map(({ interrupt: _, ...message }) => message) };
}

/** Returns the findings without the one that this decision records. */
export function withoutRecorded(
  { unrecorded = [] }: Conversation,
  { message_id, guardrail }: GuardrailDecided,
): Partial<Conversation> {
  const place = unrecorded.findIndex(
    (finding) => finding.message_id === message_id && finding.guardrail.index === guardrail.index,
  );
  return place === -1 ? {} : { unrecorded: unrecorded.toSpliced(place, 1) };
}

/** True while a step is open that sends the prompt, or the provider has yet to finish its answer. */
const isHeldBack = ({ open, is_continued = false }: Conversation): boolean =>
  is_continued || open.some(({ step_type }) => stepKinds[step_type].asksModel);

/** True if a message has ended the open model call: its prompt is not sent again. */
export const isInterrupted = ({ held = [], open }: Pick<RunState, "held" | "open">): boolean =>
  held.some(({ interrupt }) => interrupt) && open.some(({ step_type }) => step_type === "model_call");

/** Returns the messages of the user since the newest answer, which no model call has had. */
export function unansweredMessages({ messages, held = [] }: Pick<RunState, "messages" | "held">): number {
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  return (
    messages.slice(answered + 1).filter((message) => message.role === "user" && message.steered).length + held.length
  );
}
