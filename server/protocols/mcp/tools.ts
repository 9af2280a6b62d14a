import { validateAgainst } from "../../lib/json-schema.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { Params } from "./protocol.ts";

export type ProtocolAgent = ReturnType<AgentStore["throughProtocol"]>[number];

export const searchName = "search_memory";

const mostLetters = 64;

/**
 * Names agents as tools: by their own name in the characters that the protocol allows. The oldest of several with one
 * name has it; the others get the end of their id appended. `agents`: oldest first.
 */
export function toolNames<A extends { id: string; name: string }>(agents: readonly A[]): Map<string, A> {
  const tools = new Map<string, A>();
  for (const agent of agents) {
    const plain = agent.name
      .normalize("NFKD")
      .replaceAll(/\p{Mark}/gu, "")
      .replaceAll(/[^\w-]+/g, "_")
      .replaceAll(/^_+|_+$/g, "")
      .slice(0, mostLetters);
    const end = `_${agent.id.slice(-6)}`;
    const name = plain === "" ? agent.id : plain;
    const isFree = !tools.has(name) && name !== searchName;
    tools.set(isFree ? name : name.slice(0, mostLetters - end.length) + end, agent);
  }
  return tools;
}

const input = {
  type: "string",
  minLength: 1,
  description: "What the agent is asked.",
};
const thread_id = {
  type: "string",
  description: "A thread of this server, where the call goes on with a conversation.",
};

const plainInput = {
  type: "object",
  properties: { input, thread_id },
  required: ["input"],
  additionalProperties: false,
};

/**
 * Returns the input of a run: the text, or the arguments as JSON if the agent has an `input_schema`. Returns a sentence
 * if they are invalid.
 */
export function runInputOf({ input_schema }: Pick<ProtocolAgent, "input_schema">, args: Params): Params | string {
  if (input_schema) {
    const faults = validateAgainst(input_schema, args);
    if (faults.length > 0) return faults.map(({ path, message }) => `${path || "arguments"}: ${message}.`).join(" ");
    return { input: JSON.stringify(args) };
  }
  const { input, thread_id, ...others } = args;
  const [unknown] = Object.keys(others);
  return unknown === undefined ? { input, thread_id } : `${unknown}: There is no such parameter.`;
}

/** An agent's entry in the list of tools. */
export const toolOf = (name: string, { name: title, description, input_schema, output_schema }: ProtocolAgent) => ({
  name,
  title,
  description: description ?? `Asks the agent ${title}.`,
  inputSchema: input_schema ?? plainInput,
  ...(isOfObjects(output_schema) && { outputSchema: output_schema }),
});

/** True for schemas of objects: structured content has to be one, so other output stays text. */
const isOfObjects = (schema: unknown): boolean => (schema as { type?: unknown } | null)?.type === "object";

/** Search tool for the memory stores that agents may search. */
export const searchTool = (stores: readonly string[]) => ({
  name: searchName,
  title: "Search memory",
  description:
    "Searches a memory store of this server by meaning and by words. The resources say what stores there are.",
  inputSchema: {
    type: "object",
    properties: {
      memory_id: { type: "string", enum: stores, description: "The store." },
      query: { type: "string", minLength: 1, description: "What is looked for." },
      top_k: { type: "integer", minimum: 1, maximum: 100, description: "How many passages. Default: 10." },
      scope_id: {
        type: "string",
        description: "Whose memory, where a store keeps that of each user or session apart.",
      },
    },
    required: ["memory_id", "query"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
});

/** Returns the stores that the agents may search. */
export const storesOf = (agents: readonly Pick<ProtocolAgent, "memory">[]): string[] => [
  ...new Set(agents.flatMap(({ memory }) => memory?.stores.map((store) => store.memory_id) ?? [])),
];
