import type { ApprovalRule, CodeLanguage, ToolSnapshot, ToolType } from "../core/agent-snapshot.ts";
import type { McpListing } from "../mcp/read-tools.ts";
import { codeBounds, isWithin } from "./code-bounds.ts";
import type { UpdateTool } from "./schema.ts";

/** What stands in a tool's row, but for its name and its secrets. Rows of earlier versions lack what is optional. */
export interface Definition {
  description: string;
  /** Of no meaning where the type or the source says what the parameters are: `parametersOf` knows. */
  parameters: Record<string, unknown>;
  approval: ApprovalRule;
  on_unknown: ToolSnapshot["on_unknown"];
  max_output_bytes: number;
  enabled: boolean;
  /** Of http and webhook tools. */
  http: HttpDefinition | null;
  code?: CodeDefinition;
  mcp?: McpDefinition;
  agent?: { agent_id: string };
}

export interface HttpDefinition {
  url: string;
  method: string;
  timeout_ms: number;
  retries: number;
  response: "json" | "text";
  /** Null: by the method. */
  idempotent: boolean | null;
  header_names: string[];
}

export interface CodeDefinition {
  language: CodeLanguage;
  source: string | null;
  timeout_ms: number;
  memory_mb: number;
  files: string[];
}

export interface McpDefinition {
  server_url: string;
  /** Null: all that the server has. */
  allowed_tools: string[] | null;
  timeout_ms: number;
  header_names: string[];
  listing: Listing;
}

/** What an MCP server said that it can do, and when; what went wrong the last time that it was asked. */
export interface Listing extends McpListing {
  listed_at_ms: number | null;
  last_error: { code: string; message: string; at_ms: number } | null;
}

export const neverListed: Listing = { tools: [], skipped: [], listed_at_ms: null, last_error: null };

const defaults: Definition = {
  description: "",
  parameters: { type: "object", properties: {} },
  approval: "never",
  on_unknown: "ask",
  max_output_bytes: 262_144,
  enabled: true,
  http: null,
};
const httpDefaults = { method: "POST", timeout_ms: 30_000, retries: 0, response: "json", idempotent: null } as const;

/** A definition with changes, over an earlier one or over the defaults. */
export function changed(input: UpdateTool, type: ToolType, before: Definition | null): Definition {
  const base = before ?? defaults;
  const after: Definition = {
    description: input.description ?? base.description,
    parameters: input.parameters ? ofObject(input.parameters) : base.parameters,
    approval: (input.approval as ApprovalRule | undefined) ?? base.approval,
    on_unknown: input.on_unknown ?? base.on_unknown,
    max_output_bytes: input.max_output_bytes ?? base.max_output_bytes,
    enabled: input.enabled ?? base.enabled,
    http: type === "http" || type === "webhook" ? changedHttp(input, base.http) : null,
    ...(type === "code" && { code: changedCode(input, base.code) }),
    ...(type === "mcp" && { mcp: changedMcp(input, base.mcp) }),
    ...(type === "agent" && { agent: { agent_id: input.agent_id ?? base.agent!.agent_id } }),
  };
  // Parameters of a source that is gone say nothing of the next one.
  return hasFixedParameters(after) ? { ...after, parameters: defaults.parameters } : after;
}

/** Clients leave out what goes without saying, and providers refuse a schema that does not say it. */
const ofObject = (parameters: Record<string, unknown>): Record<string, unknown> =>
  parameters.type === undefined ? { ...defaults.parameters, ...parameters } : parameters;

function changedHttp(input: UpdateTool, before: HttpDefinition | null): HttpDefinition {
  const base = before ?? { ...httpDefaults, url: "", header_names: [] };
  return {
    url: input.url ?? base.url,
    method: input.method ?? base.method,
    timeout_ms: input.timeout_ms ?? base.timeout_ms,
    retries: input.retries ?? base.retries,
    response: input.response ?? base.response,
    idempotent: input.idempotent ?? base.idempotent,
    header_names: input.headers ? Object.keys(input.headers) : base.header_names,
  };
}

/** With another language, bounds that it does not have give way to its own. */
function changedCode(input: UpdateTool, before: CodeDefinition | undefined): CodeDefinition {
  const language = input.language ?? before?.language ?? "javascript";
  const bounded = (name: "timeout_ms" | "memory_mb"): number => {
    const bounds = codeBounds[language][name];
    const kept = before?.[name] ?? bounds.usual;
    return input[name] ?? (isWithin(bounds, kept) ? kept : bounds.usual);
  };
  return {
    language,
    source: input.source === undefined ? (before?.source ?? null) : input.source,
    timeout_ms: bounded("timeout_ms"),
    memory_mb: bounded("memory_mb"),
    files: input.files ?? before?.files ?? [],
  };
}

/** At another address there is another server, of which nothing is known yet. */
function changedMcp(input: UpdateTool, before: McpDefinition | undefined): McpDefinition {
  const server_url = input.server_url ?? before!.server_url;
  return {
    server_url,
    allowed_tools: input.allowed_tools === undefined ? (before?.allowed_tools ?? null) : input.allowed_tools,
    timeout_ms: input.timeout_ms ?? before?.timeout_ms ?? httpDefaults.timeout_ms,
    header_names: input.headers ? Object.keys(input.headers) : (before?.header_names ?? []),
    listing: before?.server_url === server_url ? before.listing : neverListed,
  };
}

const hasFixedParameters = ({ code, mcp, agent }: Definition): boolean =>
  code?.source === null || mcp !== undefined || agent !== undefined;

/** What a call's arguments must fit; null for a whole MCP server, each of whose tools has its own. */
export function parametersOf({ parameters, code, mcp, agent }: Definition): Record<string, unknown> | null {
  if (mcp) return null;
  if (agent) return textParameter("input", "What the agent is asked to do, with all that it must know.");
  if (code?.source === null)
    return textParameter(
      "code",
      `${languageNames[code.language]} code; the value of its last expression is the result.`,
    );
  return parameters;
}

const languageNames: Record<CodeLanguage, string> = { javascript: "JavaScript", python: "Python" };

const textParameter = (name: string, description: string) => ({
  type: "object",
  properties: { [name]: { type: "string", description } },
  required: [name],
  additionalProperties: false,
});

/** HTTP's own word on what may be sent twice, unless the tool says otherwise. */
export const isIdempotent = ({ method, idempotent }: HttpDefinition): boolean =>
  idempotent ?? ["GET", "HEAD", "PUT", "DELETE"].includes(method);

/** Names of the headers that a tool has, whichever type it is of. */
export const headerNames = ({ http, mcp }: Definition): readonly string[] =>
  http?.header_names ?? mcp?.header_names ?? [];
