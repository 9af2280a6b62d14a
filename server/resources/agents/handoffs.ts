import type { AgentChoice } from "../../domain/agent-label.ts";
import type { AgentHandoff, HandoffTool } from "../../domain/agent-snapshot.ts";
import type { Fault } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { completeHandoff, type GivenHandoff } from "./handoff-fields.ts";

export type ResolveAgent = (
  viewer: Viewer,
  reference: Partial<AgentChoice> & { agent_id: string },
  param: string,
) => AgentChoice;

/**
 * Returns handoffs with the agents' ids. Throws for an agent, version or label that does not exist, and for a handoff
 * to the agent itself or to the same agent twice. Those that the agent `had` may stay, although what they lead to was
 * deleted since.
 */
export function resolveHandoffs(
  viewer: Viewer,
  given: readonly GivenHandoff[],
  { id, had }: { id: string | null; had: readonly AgentHandoff[] },
  resolve: ResolveAgent,
): AgentHandoff[] {
  const handoffs = given.map(completeHandoff).map((complete, index) => {
    if (had.some((each) => leadsAlike(each, complete))) return complete;
    const { version, label, ...handoff } = complete;
    const { agent_id, ...chosen } = resolve(
      viewer,
      { agent_id: handoff.agent_id, version: version ?? null, label: label ?? null },
      `handoffs[${index}].agent_id`,
    );
    return completeHandoff({ ...handoff, agent_id, ...chosen });
  });
  const faults = handoffs.flatMap(({ agent_id }, index): Fault[] => {
    const param = `handoffs[${index}].agent_id`;
    if (agent_id === id) return [fault(param, "An agent cannot hand a conversation over to itself.")];
    const isTwice = handoffs.findIndex((each) => each.agent_id === agent_id) < index;
    return isTwice ? [fault(param, "The agent is named twice.")] : [];
  });
  throwIfInvalid(faults);
  return handoffs;
}

const leadsAlike = (a: AgentHandoff, b: AgentHandoff): boolean =>
  a.agent_id === b.agent_id && a.version === b.version && a.label === b.label;

/** An agent as the tool of a handoff describes it. */
interface Target {
  name: string;
  description: string | null;
}

/**
 * Returns the tools by which a model hands over; `taken` are the names of the agent's other tools. An agent that the run
 * does not reach has none: it would only fail.
 */
export function handoffTools(
  handoffs: readonly AgentHandoff[],
  targetOf: (agentId: string) => Target | null,
  taken: ReadonlySet<string>,
): HandoffTool[] {
  const names = new Set(taken);
  return handoffs.flatMap(({ agent_id, description, filter }): HandoffTool[] => {
    const target = targetOf(agent_id);
    if (!target) return [];
    const name = freeName(toolNameOf(target.name), names);
    names.add(name);
    const purpose = description ?? target.description;
    return [
      {
        id: agent_id,
        name,
        description: `Hands the conversation over to ${target.name}, who answers from here on.${purpose ? ` ${purpose}` : ""}`,
        parameters,
        type: "handoff",
        approval: "never",
        idempotent: true,
        on_unknown: "retry",
        max_output_bytes: limits.tool_output_bytes,
        http: null,
        handoff: { agent_id, filter },
      },
    ];
  });
}

const parameters = {
  type: "object",
  properties: { reason: { type: "string", description: "Why, in a sentence. The other agent reads it." } },
  additionalProperties: false,
};

// Providers take at most 64 characters.
const nameMost = 60;

/** Returns the tool's name: letters and digits of the agent's, as providers accept them. */
function toolNameOf(agentName: string): string {
  const word = agentName
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  return `transfer_to_${word || "agent"}`.slice(0, nameMost);
}

function freeName(baseName: string, taken: ReadonlySet<string>): string {
  let name = baseName;
  for (let count = 2; taken.has(name); count++) name = `${baseName}_${count}`;
  return name;
}

/** An agent of a run, and its version; null: the newest. */
export interface PinnedVersion {
  agent_id: string;
  version: number | null;
}

/** Returns the version that a run gets of an agent (null: the newest); undefined if the label is gone. */
export type ChooseVersion = (scope: Scope, choice: AgentChoice, key: string) => number | null | undefined;

/**
 * Returns the agents that handoffs lead to, the nearest first, without the first one. Where handoffs name several
 * versions of an agent, the nearest decides. `versionOf` returns undefined for what is gone.
 */
export function reachedBy(
  first: PinnedVersion,
  handoffsOf: (agent: PinnedVersion) => readonly AgentHandoff[],
  versionOf: (handoff: AgentHandoff) => number | null | undefined,
): PinnedVersion[] {
  const found = [first];
  for (let index = 0; index < found.length && found.length <= limits.agents_per_team; index++)
    for (const handoff of handoffsOf(found[index] ?? first)) {
      const { agent_id } = handoff;
      if (found.length > limits.agents_per_team || found.some((each) => each.agent_id === agent_id)) continue;
      const version = versionOf(handoff);
      if (version !== undefined) found.push({ agent_id, version });
    }
  return found.slice(1);
}
