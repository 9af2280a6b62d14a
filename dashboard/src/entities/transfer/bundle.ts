import type { Agent } from "../../../../server/agents/schema.ts";
import type { Tool } from "../../../../server/tools/schema.ts";
import { isJsonObject, readJson } from "../../lib/json-text.ts";
import { definitionFields } from "../agent/agent-fields.ts";
import { isSame } from "../agent/definition.ts";

// An agent with its tools as a file, which is also what is carried to live data or to another project. It names tools by
// their names, since ids are of one project and mode. It has no secret's value: nobody can read one.

/** What an agent or a tool is, without what belongs to one project and mode. */
type Definition = Record<string, unknown> & { name: string };

export interface Bundle {
  object: "runnel.bundle";
  version: 1;
  agent: (Definition & { tools: string[] }) | null;
  tools: Definition[];
  /** Headers whose values nobody can read: `find_parcel: authorization`. They are set anew where the tool goes. */
  withheld: string[];
}

/** What the API shows in the place of a header's value. */
const masked = "********";

/** What of a tool is its state, or of one project and mode. */
const ownOfTool = [
  "id",
  "object",
  "created_at",
  "updated_at",
  "project_id",
  "environment",
  "request_id",
  "signing_secret",
  "tools",
  "skipped",
  "listed_at",
  "last_error",
  "files",
  "agent_id",
];

export function bundleOf(agent: Agent | null, tools: readonly Tool[]): Bundle {
  return {
    object: "runnel.bundle",
    version: 1,
    agent: agent && { ...agentPart(agent), tools: agent.tools.map(({ name }) => name) },
    tools: tools.map(toolPart),
    withheld: tools.flatMap((tool) => maskedHeaders(tool).map((header) => `${tool.name}: ${header}`)),
  };
}

export const maskedHeaders = ({ headers = {} }: Tool): string[] =>
  Object.keys(headers).filter((name) => headers[name] === masked);

/** Memory stores are of one project and mode: of a policy, only what it says of threads is carried. */
export function agentPart(agent: Agent): Definition {
  const { tools: _, ...part } = present(Object.fromEntries(definitionFields.map((name) => [name, agent[name]])));
  const memory = agent.memory && { history: agent.memory.history, context: agent.memory.context };
  return { ...part, memory, name: agent.name };
}

export function toolPart(tool: Tool): Definition {
  const part = present(Object.fromEntries(Object.entries(tool).filter(([name]) => !ownOfTool.includes(name))));
  const shown = Object.entries(tool.headers ?? {}).filter(([, value]) => value !== masked);
  const { headers: _, ...rest } = part;
  return { ...rest, ...(shown.length > 0 && { headers: Object.fromEntries(shown) }), name: tool.name };
}

const present = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));

/** A bundle of a file; a sentence where it is none. */
export function readBundle(text: string): Bundle | string {
  const { value } = readJson(text);
  if (!isJsonObject(value) || value.object !== "runnel.bundle") return "This file is not an exported agent or tool.";
  if (value.version !== 1) return `This file has version ${String(value.version)}, and this server reads version 1.`;
  const { agent, tools, withheld } = value;
  const isFit =
    Array.isArray(withheld) && Array.isArray(tools) && tools.every(isDefinition) && (agent === null || isAgent(agent));
  if (!isFit) return "A part of this file is missing.";
  const bundle = value as unknown as Bundle;
  // A file without a policy is of an agent that has none; the server would give it the default.
  return bundle.agent ? { ...bundle, agent: { ...bundle.agent, memory: bundle.agent.memory ?? null } } : bundle;
}

const isDefinition = (value: unknown): value is Definition => isJsonObject(value) && typeof value.name === "string";
const isAgent = (value: unknown): boolean => isDefinition(value) && Array.isArray(value.tools);

/** What there is where the bundle goes. */
export interface Target {
  agents: readonly { id: string; name: string }[];
  /** The agent of the bundle's name there, with all that it says. */
  agent: Agent | null;
  tools: readonly Tool[];
  secrets: readonly string[];
}

/** What becomes of one definition: it is made, it is there as it is, or it is there and differs in these fields. */
export interface Step {
  part: Definition;
  /** `left`: it asks another agent, which is not carried along. */
  state: "new" | "same" | "differs" | "left";
  fields: string[];
  /** Of what is there. */
  id: string | null;
}

export interface Plan {
  agent: Step | null;
  tools: Step[];
  /** Secrets that the tools name and that are not there. */
  missing: string[];
}

/** What is new where a bundle goes, and what differs. */
export function planOf({ agent, tools }: Bundle, target: Target): Plan {
  const secrets = new Set(JSON.stringify(tools).match(/\{\{secret\.\w+\}\}/g) ?? []);
  const names = [...secrets].map((text) => text.slice("{{secret.".length, -2));
  const there = target.agent && { ...agentPart(target.agent), tools: target.agent.tools.map(({ name }) => name) };
  return {
    agent: agent && stepOf(agent, there, target.agent?.id ?? null),
    tools: tools.map((part) => {
      const found = target.tools.find(({ name }) => name === part.name);
      return stepOf(part, found ? toolPart(found) : null, found?.id ?? null);
    }),
    missing: names.filter((name) => !target.secrets.includes(name)),
  };
}

function stepOf(part: Definition, there: Definition | null, id: string | null): Step {
  if (!there) return { part, state: part.type === "agent" ? "left" : "new", fields: [], id: null };
  const fields = [...new Set([...Object.keys(part), ...Object.keys(there)])].filter(
    (name) => !isSame(part[name], there[name]),
  );
  return { part, state: fields.length > 0 ? "differs" : "same", fields, id };
}

/** A name that nothing has yet: `order_desk copy`, or for tools, which have no blanks, `lookup_copy`. */
export function freeName(name: string, taken: readonly string[], glue: " " | "_"): string {
  for (let count = 1; ; count++) {
    const free = `${name}${glue}copy${count > 1 ? `${glue}${count}` : ""}`;
    if (!taken.includes(free)) return free;
  }
}
