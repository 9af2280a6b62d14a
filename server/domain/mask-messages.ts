import type { HandoffCompleted, RunCreated } from "./run-event.ts";
import type { EarlierMessage } from "./run-input.ts";

/** The run and its messages, of any kind. */
interface Conversation<Message> {
  run: RunCreated;
  messages: Message[];
}

/**
 * Returns the run and its messages as the guardrails of the agent that takes over left them: its input, the messages
 * that were sent along with it, and those that came while it was under way. `convert` makes a message of one that was
 * sent along.
 */
export function maskMessages<Message extends { id: string; role: string; at: number }>(
  { run, messages }: Conversation<Message>,
  { input, messages: masked = [] }: Pick<HandoffCompleted, "input" | "messages">,
  convert: (message: EarlierMessage, at: number) => Message,
): Conversation<Message> {
  if (input === undefined && masked.length === 0) return { run, messages };
  const changes = new Map(masked.map(({ message_id, ...change }) => [message_id, change]));
  const earlier = run.earlier?.map((one) => ({ ...one, ...changes.get(one.id) }));
  const earlierById = new Map(earlier?.map((one) => [one.id, one]));
  const change = (message: Message): Message => {
    const sentAlong = earlierById.get(message.id);
    if (sentAlong) return convert(sentAlong, message.at);
    if (message.role !== "user") return message;
    const content = message.id === run.message_id ? input : changes.get(message.id)?.content;
    return content === undefined ? message : { ...message, content };
  };
  return {
    run: { ...run, ...(input !== undefined && { input }), ...(earlier && { earlier }) },
    messages: messages.map(change),
  };
}
