import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { RunView } from "../../../../server/domain/api-types/run-view.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { type ShownLists, ShownMedia } from "../../entities/file/shown-media.tsx";
import { MessageCard } from "../../entities/run/message-card.tsx";
import { fieldsOf } from "../../lib/json-text.ts";
import { LongText } from "../../ui/data/value.tsx";

/** A message of the user that came while the run was under way. */
export interface Steered extends ShownLists {
  id: string;
  content: string;
}

/** Label of such a message. */
export const sentDuringRun = "Sent during the run";

/** Returns the messages that a model call was the first to have. */
export function steeredInto(step: TraceStep): Steered[] {
  const { messages } = fieldsOf(step.input);
  return Array.isArray(messages) ? (messages as (Steered & { steered?: true })[]).filter(({ steered }) => steered) : [];
}

/** Returns the messages that no model call has had yet. An ended run has none that wait. */
export function waitingMessages(
  run: Pick<Run, "messages" | "status">,
  steps: readonly TraceStep[],
  live: Pick<RunView, "parts">,
): Steered[] {
  if (isOver(run.status)) return [];
  const taken = new Set(steps.flatMap(steeredInto).map(({ id }) => id));
  const recorded = (run.messages ?? []).filter(({ steered }) => steered);
  const announced = live.parts.flatMap((part) =>
    part.kind === "message" ? [{ id: part.key, content: part.content }] : [],
  );
  const all = new Map([...announced, ...recorded].map((message) => [message.id, message]));
  return [...all.values()].filter(({ id }) => !taken.has(id));
}

/** Such messages as cards. */
export const SteeredMessages = ({
  messages,
  aside = sentDuringRun,
}: {
  messages: readonly Steered[];
  aside?: string | undefined;
}) =>
  messages.map((message) => (
    <MessageCard key={message.id} by="user" aside={aside}>
      <LongText text={message.content} name="message" />
      <ShownMedia {...message} />
    </MessageCard>
  ));
