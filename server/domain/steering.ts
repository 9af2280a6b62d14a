import type { MessageFile } from "./model-call.ts";
import type { GuardrailDecided, Preparation, RunSteered } from "./run-event.ts";
import { type MessageMedia, mediaOfMessage } from "./run-input.ts";
import { type StepType, stepKinds } from "./step-kinds.ts";

// Steering: messages of the user that come while the run is under way. The prompt of an open model call is recorded by
// its hash and sent again by a retry, so that a message which comes meanwhile is held until the call has ended.

type SteeredMessage = { role: "user"; id: string; at: number; content: string; steered: true } & MessageMedia;

/** A message that is held until the open model call has ended. */
export type HeldMessage = SteeredMessage & { interrupt?: true };

/** A finding in such a message that has no decision in the journal yet. */
export type SteeredFinding = NonNullable<RunSteered["findings"]>[number] & { message_id: string };

/** Fields of a run's state, with its messages of any kind. */
interface Conversation<Message> {
  messages: Message[];
  open: { step_type: StepType }[];
  is_continued?: boolean;
  held?: HeldMessage[];
  unrecorded?: SteeredFinding[];
  to_prepare?: Preparation[];
}

type Change<Message> = Partial<Omit<Conversation<Message>, "open">>;

/** Adds a message to a list. */
type Add<Message> = (list: Message[], item: SteeredMessage) => Message[];

/** Number of messages that may wait for the next model call. */
export const steeredMost = 30;

/** Returns the change that a message makes. */
export function takeSteered<Message>(
  state: Conversation<Message>,
  event: RunSteered,
  at: number,
  add: Add<Message>,
): Change<Message> {
  const { message_id, content, interrupt, findings = [] } = event;
  const media = mediaOfMessage(event);
  const message: SteeredMessage = { role: "user", id: message_id, at, content, ...media, steered: true };
  const unrecorded = [...(state.unrecorded ?? []), ...findings.map((finding) => ({ ...finding, message_id }))];
  return {
    ...(findings.length > 0 && { unrecorded }),
    ...(isHeldBack(state)
      ? { held: [...(state.held ?? []), { ...message, ...(interrupt && { interrupt }) }] }
      : { messages: add(state.messages, message), ...toRead(state, [message]) }),
  };
}

/** Returns the change that documents of messages make: they are read before the next model call. */
function toRead(
  { to_prepare = [] }: Pick<Conversation<unknown>, "to_prepare">,
  messages: readonly MessageMedia[],
): Pick<Change<unknown>, "to_prepare"> {
  if (to_prepare.includes("documents") || !messages.some(({ files }) => files)) return {};
  // The documents of a thread's messages are known only after its history.
  const [first, ...rest] = to_prepare;
  return { to_prepare: first === "history" ? [first, "documents", ...rest] : ["documents", ...to_prepare] };
}

/** Returns the documents of messages that came while the run was under way, in their order. */
export const steeredFiles = (messages: readonly { role: string; steered?: true; files?: MessageFile[] }[]): string[] =>
  messages.flatMap(({ steered, files = [] }) => (steered ? files.map(({ file_id }) => file_id) : []));

/** Returns the change that adds the held messages to the conversation, for the next model call. */
export function releaseHeld<Message>(state: Conversation<Message>, add: Add<Message>): Change<Message> {
  const { messages, held = [] } = state;
  if (held.length === 0) return {};
  return {
    messages: held.reduce((list, { interrupt: _, ...message }) => add(list, message), messages),
    held: [],
    ...toRead(state, held),
  };
}

/** Returns the change that the end of a model call makes: the held messages follow, unless the answer is to go on. */
export function afterCall<Message>(
  state: Conversation<Message>,
  isCancelled: boolean,
  add: Add<Message>,
): Change<Message> {
  const { held = [], is_continued = false } = state;
  if (held.length === 0) return {};
  if (!is_continued || isCancelled) return { ...releaseHeld(state, add), ...(is_continued && { is_continued: false }) };
  return { held: held.map(({ interrupt: _, ...message }) => message) };
}

/** Returns the findings without the one that this decision records. */
export function withoutRecorded(
  { unrecorded = [] }: Pick<Conversation<unknown>, "unrecorded">,
  { message_id, guardrail }: GuardrailDecided,
): Pick<Conversation<unknown>, "unrecorded"> {
  const place = unrecorded.findIndex(
    (finding) => finding.message_id === message_id && finding.guardrail.index === guardrail.index,
  );
  return place === -1 ? {} : { unrecorded: unrecorded.toSpliced(place, 1) };
}

/** True while a step is open that sends the prompt, or the provider has yet to finish its answer. */
const isHeldBack = ({ open, is_continued = false }: Pick<Conversation<unknown>, "open" | "is_continued">): boolean =>
  is_continued || open.some(({ step_type }) => stepKinds[step_type].asksModel);

/** True if a message has ended the open model call: its prompt is not sent again. */
export const isInterrupted = ({ held = [], open }: Pick<Conversation<unknown>, "held" | "open">): boolean =>
  held.some(({ interrupt }) => interrupt) && open.some(({ step_type }) => step_type === "model_call");

/** Returns the number of messages since the newest answer, which no model call has had. */
export function unansweredMessages({
  messages,
  held = [],
}: Pick<Conversation<{ role: string; steered?: true }>, "messages" | "held">): number {
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(answered + 1).filter(({ steered }) => steered).length + held.length;
}
