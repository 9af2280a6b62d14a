import type { AgentHandoff, HandoffFilter } from "../../../../server/domain/agent-snapshot.ts";

/** A handoff as the form has it, and as the API takes it. */
export type Handoff = Omit<AgentHandoff, "filter"> & { filter?: HandoffFilter };

/** Returns the handoffs of a JSON value; null if the fields cannot show it. */
export function parseHandoffs(value: unknown): Handoff[] | null {
  if (!Array.isArray(value)) return null;
  const handoffs = value.map((each) => (typeof each === "string" ? { agent_id: each } : each));
  return handoffs.every(isHandoff) ? handoffs : null;
}

const isHandoff = (value: unknown): value is Handoff =>
  typeof value === "object" && value !== null && "agent_id" in value && typeof value.agent_id === "string";

/** Returns the version of a handoff as it is typed: a number, or a label; empty for the newest. */
export const textOfVersion = ({ version, label }: Handoff): string => label ?? version?.toString() ?? "";

/** Returns the handoff with the version or the label that is typed. */
export function withVersion({ version: _, label: __, ...handoff }: Handoff, text: string): Handoff {
  const typed = text.trim();
  if (typed === "") return handoff;
  return /^\d+$/.test(typed) ? { ...handoff, version: Number(typed) } : { ...handoff, label: typed };
}

type FilterKind = Exclude<HandoffFilter, object> | "messages";

export const kindOfFilter = (filter: HandoffFilter): FilterKind => (typeof filter === "object" ? "messages" : filter);

/** Returns the filter of a kind as it is chosen. */
export const filterOf = (kind: FilterKind): HandoffFilter => (kind === "messages" ? { messages: 20 } : kind);
