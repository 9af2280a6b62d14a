import type { AgentSnapshot, HandoffFilter } from "./agent-snapshot.ts";
import type { AssistantPart, PromptMessage } from "./model-call.ts";
import { quoted } from "./quote-untrusted.ts";
import type { Handoff, RunState } from "./run-state.ts";

/** A conversation in the order of a prompt: the messages before the run's input, the input, and those after it. */
export interface PromptParts {
  before: PromptMessage[];
  input: PromptMessage | undefined;
  own: PromptMessage[];
}

type Active = Pick<RunState, "handoffs">;

/** Returns the agent that answers now, of those that the run has pinned. */
export function activeAgent({ handoffs }: Active, pinned: AgentSnapshot): AgentSnapshot {
  const last = handoffs.at(-1);
  if (!last || last.agent_id === pinned.id) return pinned;
  return pinned.team?.find(({ id }) => id === last.agent_id) ?? pinned;
}

/** Returns an agent by its id: the run's own, or one that it may hand over to. */
export const agentNamed = (id: string, pinned: AgentSnapshot): AgentSnapshot | undefined =>
  [pinned, ...(pinned.team ?? [])].find((agent) => agent.id === id);

/** Returns the run's own agent and those that it may hand over to. */
export const everyAgent = (pinned: AgentSnapshot): AgentSnapshot[] => [pinned, ...(pinned.team ?? [])];

export const activeAgentId = ({ handoffs, run }: Pick<RunState, "handoffs" | "run">): string =>
  handoffs.at(-1)?.agent_id ?? run.agent_id;

/** Returns the part of the state that the newest handoff found. */
export const beforeHandoff = (state: RunState, { messages, compacted }: Handoff): RunState => ({
  ...state,
  handoffs: state.handoffs.slice(0, -1),
  messages: state.messages.slice(0, messages),
  compacted,
});

/**
 * Returns the conversation that goes along with a handoff. It has neither the handoff's own call, which is a tool that
 * the next agent does not have, nor reasoning, which is valid only for the agent that had it.
 */
export function conversationFor(handoff: Handoff, parts: PromptParts, calls: RunState["calls"]): PromptParts {
  const handoffCalls = new Set(calls.flatMap(({ id, type }) => (type === "handoff" ? [id] : [])));
  const shown = mapParts(parts, (messages) => messages.flatMap((message) => withoutCalls(message, handoffCalls)));
  return withNote(handoff, filtered(handoff.filter, shown));
}

function filtered(filter: HandoffFilter, parts: PromptParts): PromptParts {
  if (filter === "all") return parts;
  if (filter === "last_message") return lastMessage(parts);
  if (filter === "no_tool_calls") return mapParts(parts, (messages) => messages.flatMap(onlyText));
  return newest(filter.messages, parts);
}

const mapParts = (
  { before, input, own }: PromptParts,
  change: (messages: PromptMessage[]) => PromptMessage[],
): PromptParts => ({ before: change(before), input, own: change(own) });

function withoutCalls(message: PromptMessage, calls: ReadonlySet<string>): PromptMessage[] {
  if (message.role === "tool") return calls.has(message.call_id) ? [] : [message];
  if (message.role !== "assistant") return [message];
  const parts = message.parts.flatMap((part): AssistantPart[] => {
    if (part.type === "reasoning" || (part.type === "tool_call" && calls.has(part.id))) return [];
    const { metadata: _, ...own } = part;
    return part.type === "text" && part.text.trim() === "" ? [] : [own as AssistantPart];
  });
  return parts.length > 0 ? [{ role: "assistant", parts }] : [];
}

function onlyText(message: PromptMessage): PromptMessage[] {
  if (message.role === "tool") return [];
  if (message.role !== "assistant") return [message];
  const parts = message.parts.filter(({ type }) => type === "text");
  return parts.length > 0 ? [{ role: "assistant", parts }] : [];
}

/** Keeps only what the user said last. */
function lastMessage({ input, own }: PromptParts): PromptParts {
  const last = own.findLast(({ role }) => role === "user") ?? input;
  return { before: [], input: last, own: [] };
}

/** Keeps the newest messages, and the input in any case. A result whose call is left out is left out too. */
function newest(count: number, { before, input, own }: PromptParts): PromptParts {
  const after = withoutLostResults(own.slice(-count));
  const left = count - own.length - 1;
  return { before: left > 0 ? withoutLostResults(before.slice(-left)) : [], input, own: after };
}

function withoutLostResults(messages: PromptMessage[]): PromptMessage[] {
  const first = messages.findIndex(({ role }) => role !== "tool");
  return first < 0 ? [] : messages.slice(first);
}

/**
 * Adds a note for the next agent if there is a reason, or if the conversation ends with an answer: providers expect the
 * user or a tool to have said the last words.
 */
function withNote({ from_name, reason }: Handoff, parts: PromptParts): PromptParts {
  const last = parts.own.at(-1) ?? parts.input;
  if (reason === null && last?.role !== "assistant") return parts;
  const why = reason === null ? "" : ` Its reason: ${quoted(reason)}`;
  const note = `[The agent ${quoted(from_name)} handed this conversation over to you.${why}]`;
  return { ...parts, own: [...parts.own, { role: "user", content: note }] };
}
