import { timestamp, timestampOrNull } from "../core/time.ts";
import { type Definition, type HttpDefinition, isIdempotent, type McpDefinition, parametersOf } from "./definition.ts";
import { mask } from "./headers.ts";
import { offered, skipped } from "./listing.ts";
import { definitionOf, type Row } from "./row.ts";

/** A tool as clients see it: flat, with the fields of its type. */
export function shownTool(row: Row) {
  const definition = definitionOf(row);
  const { description, approval, on_unknown, max_output_bytes, enabled } = definition;
  return {
    id: row.id,
    object: "tool" as const,
    name: row.name,
    type: row.type,
    description,
    parameters: parametersOf(definition),
    approval,
    on_unknown,
    max_output_bytes,
    enabled,
    ...ownFields(row, definition),
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    created_at: timestamp(row.created_at_ms),
    updated_at: timestamp(row.updated_at_ms),
    project_id: row.project_id,
    environment: row.environment,
  };
}

const ownFields = ({ type }: Row, { http, code, mcp, agent }: Definition) => ({
  ...(http && shownHttp(http, type === "http")),
  ...code,
  ...(mcp && shownMcp(mcp)),
  ...agent,
});

const shownHttp = (http: HttpDefinition, isPlain: boolean) => ({
  url: http.url,
  headers: masked(http.header_names),
  timeout_ms: http.timeout_ms,
  retries: http.retries,
  idempotent: isIdempotent(http),
  ...(isPlain && { method: http.method, response: http.response }),
});

const shownMcp = (mcp: McpDefinition) => ({
  server_url: mcp.server_url,
  allowed_tools: mcp.allowed_tools,
  headers: masked(mcp.header_names),
  timeout_ms: mcp.timeout_ms,
  tools: offered(mcp).map(({ name, description, parameters }) => ({ name, description, parameters })),
  skipped: skipped(mcp),
  listed_at: timestampOrNull(mcp.listing.listed_at_ms),
  last_error: mcp.listing.last_error && shownError(mcp.listing.last_error),
});

const shownError = ({ code, message, at_ms }: NonNullable<McpDefinition["listing"]["last_error"]>) => ({
  code,
  message,
  at: timestamp(at_ms),
});

const masked = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, mask]));
