import type { Agent } from "../../../../server/resources/agents/schema.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { isJsonObject, readJson } from "../../lib/json-text.ts";
import { formFieldNames } from "../agent/agent-fields.ts";
import { isSame } from "../agent/definition.ts";

// A bundle is an agent with its tools as a file; copying to live or another project uses it too. Tools are referenced
// by name, because ids belong to one workspace. Secret values are not included: they cannot be read.

/** Definition of an agent or a tool without the fields that belong to one workspace. */
type Definition = Record<string, unknown> & { name: string };

export interface Bundle {
  object: "runnel.bundle";
  version: 1;
  agent: (Definition & { tools: string[] }) | null;
  tools: Definition[];
  /** Headers whose values cannot be read, as `find_parcel: authorization`. A person sets them again at the target. */
  withheld: string[];
}

/** The API returns this text instead of a secret header's value. */
const masked = "********";

/** Fields of a tool that are state or belong to one workspace. */
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

/** Memory stores belong to one workspace, so only the policy's thread settings are copied. */
export function agentPart(agent: Agent): Definition {
  const { tools: _, ...part } = present(Object.fromEntries(formFieldNames.map((name) => [name, agent[name]])));
  const memory = agent.memory && { history: agent.memory.history, context: agent.memory.context };
  return { ...part, memory, name: agent.name };
}

export function toolPart(tool: Tool): Definition {
  const part = present(Object.fromEntries(Object.entries(tool).filter(([name]) => !ownOfTool.includes(name))));
  const unmaskedHeaders = Object.entries(tool.headers ?? {}).filter(([, value]) => value !== masked);
  const { headers: _, ...rest } = part;
  return {
    ...rest,
    ...(unmaskedHeaders.length > 0 && { headers: Object.fromEntries(unmaskedHeaders) }),
    name: tool.name,
  };
}

const present = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));

/** Parses a bundle file; returns an error message if it is invalid. */
export function readBundle(text: string): Bundle | string {
  const { value } = readJson(text);
  if (!isJsonObject(value) || value.object !== "runnel.bundle") return "This file is not an exported agent or tool.";
  if (value.version !== 1) return `This file has version ${String(value.version)}, and this server reads version 1.`;
  const { agent, tools, withheld } = value;
  const isFit =
    Array.isArray(withheld) && Array.isArray(tools) && tools.every(isDefinition) && (agent === null || isAgent(agent));
  if (!isFit) return "A part of this file is missing.";
  const bundle = value as unknown as Bundle;
  // A file without a policy means none, but the server would apply its default to a missing field.
  return bundle.agent ? { ...bundle, agent: { ...bundle.agent, memory: bundle.agent.memory ?? null } } : bundle;
}

const isDefinition = (value: unknown): value is Definition => isJsonObject(value) && typeof value.name === "string";
const isAgent = (value: unknown): boolean => isDefinition(value) && Array.isArray(value.tools);

/** Current state of the workspace that a bundle is copied to. */
export interface Target {
  agents: readonly { id: string; name: string }[];
  /** Full agent with the bundle's name, if it exists. */
  agent: Agent | null;
  tools: readonly Tool[];
  secrets: readonly string[];
}

/** Planned change of one definition: new, identical, or different in `fields`. */
export interface Step {
  part: Definition;
  /** `left`: the tool calls another agent, which is not copied. */
  state: "new" | "same" | "differs" | "left";
  fields: string[];
  /** Id of the existing object. */
  id: string | null;
}

export interface Plan {
  agent: Step | null;
  tools: Step[];
  /** Secrets that the tools use and the target lacks. */
  missing: string[];
}

/** Compares a bundle with its target. */
export function planOf({ agent, tools }: Bundle, target: Target): Plan {
  const secrets = new Set(JSON.stringify(tools).match(/\{\{secret\.\w+\}\}/g) ?? []);
  const names = [...secrets].map((text) => text.slice("{{secret.".length, -2));
  const existing = target.agent && { ...agentPart(target.agent), tools: target.agent.tools.map(({ name }) => name) };
  return {
    agent: agent && stepOf(agent, existing, target.agent?.id ?? null),
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

/** Returns an unused name: `order_desk copy`, or `lookup_copy` for tools, whose names have no spaces. */
export function freeName(name: string, usedNames: readonly string[], glue: " " | "_"): string {
  for (let count = 1; ; count++) {
    const free = `${name}${glue}copy${count > 1 ? `${glue}${count}` : ""}`;
    if (!usedNames.includes(free)) return free;
  }
}
