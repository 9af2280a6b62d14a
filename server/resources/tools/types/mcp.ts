import { Type } from "@sinclair/typebox";
import { At, ErrorCode, ErrorMessage, ToolName } from "../../../domain/api-types/fields.ts";
import type { Fault } from "../../../domain/errors.ts";
import { timestamp, timestampOrNull } from "../../../domain/time.ts";
import { fault } from "../../../http/errors.ts";
import * as t from "../../../lib/schema.ts";
import type { McpListing, McpTool } from "../../../runtime/mcp/read-tools.ts";
import { stdioName } from "../address.ts";
import {
  addressField,
  authFaults,
  authField,
  authResponse,
  changedAuth,
  headersField,
  masked,
  secretInAddress,
  showAuth,
  timeoutFaults,
  timeoutField,
  usualTimeout_ms,
} from "./fields.ts";
import {
  type Definition,
  type Known,
  type Listing,
  type McpDefinition,
  requireSettings,
  type ToolInput,
  type ToolKind,
} from "./tool-kind.ts";

export const fields = {
  server_url: t.about(
    "The MCP server's address, or `stdio:<name>` for one that the operator configured.",
    addressField,
  ),
  headers: headersField,
  auth: authField,
  timeout_ms: timeoutField,
  allowed_tools: t.about(
    "Names of the MCP server's tools that agents get; null: all.",
    t.orNull(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1000, uniqueItems: true })),
  ),
};
export const response = {
  server_url: t.text,
  headers: t.about("Headers of every call; values are shown as `********`.", t.map(t.text)),
  auth: authResponse,
  timeout_ms: t.integer,
  allowed_tools: t.orNull(t.list(t.text)),
  tools: t.about(
    "The MCP server's tools that agents get.",
    t.list(
      t.named(
        "McpListedTool",
        t.object({
          name: ToolName,
          description: t.about("What the tool does, in the words of the MCP server; the model reads it.", t.text),
          parameters: t.about("The JSON Schema of the arguments.", t.anyObject),
        }),
      ),
    ),
  ),
  skipped: t.about(
    "Tools of the MCP server that agents cannot get, and why.",
    t.list(
      t.named(
        "McpSkippedTool",
        t.object({ name: ToolName, reason: t.about("Why agents cannot get it, in a sentence.", t.text) }),
      ),
    ),
  ),
  listed_at: t.about("When the MCP server's tools were last listed; null: never.", t.orNull(t.time)),
  last_error: t.about(
    "Why the MCP server's tools could not be listed most recently; null: they could.",
    t.orNull(t.named("McpFailure", t.object({ code: ErrorCode, message: ErrorMessage, at: At }))),
  ),
};

/** An MCP server. Each of its tools is pinned separately: see `snapshots.ts`. */
export const kind: ToolKind = {
  fields,
  response,
  faults: (input, before, known) => [
    ...serverFaults(input, before, known),
    ...authFaults(input, before?.mcp ?? null, known, true),
    ...timeoutFaults(input),
  ],
  change: (input, before) => ({ mcp: change(input, before?.mcp) }),
  show: ({ mcp }) => serializeMcp(requireSettings(mcp)),
  fixedParameters: () => null,
  sends: {
    field: "server_url",
    secretField: "headers",
    signed: false,
    ownHeaders: ["accept", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id"],
    to: ({ mcp }) => {
      const { server_url, header_names, oauth_client_id } = requireSettings(mcp);
      return { address: server_url, header_names, ...(oauth_client_id !== undefined && { oauth_client_id }) };
    },
  },
};

function serverFaults(input: ToolInput, before: Definition | null, { hasStdioServer }: Known): Fault[] {
  const faults: Fault[] = [];
  const address = input.server_url ?? before?.mcp?.server_url;
  if (address === undefined)
    faults.push(fault("server_url", "An MCP tool needs the address of its server.", "required"));
  if (input.server_url?.includes("{{secret.")) faults.push(secretInAddress("server_url"));
  const name = stdioName(address ?? "");
  if (name !== null && input.server_url !== undefined && !hasStdioServer(name))
    faults.push(fault("server_url", "The operator of this server has configured no MCP server of this name."));
  if (name !== null && Object.keys(input.headers ?? {}).length > 0)
    faults.push(fault("headers", "Headers cannot be set for a server that the operator configured."));
  if (name !== null && input.auth) faults.push(fault("auth", "A server that the operator configured gets no tokens."));
  if (input.parameters) faults.push(fault("parameters", "An MCP tool takes its parameters from the server."));
  return faults;
}

const neverListed: Listing = { tools: [], skipped: [], listed_at_ms: null, last_error: null };

/** A new address is a new server, so its list starts empty. */
function change(input: ToolInput, before: McpDefinition | undefined): McpDefinition {
  const server_url = input.server_url ?? requireSettings(before).server_url;
  return {
    server_url,
    allowed_tools: input.allowed_tools === undefined ? (before?.allowed_tools ?? null) : input.allowed_tools,
    timeout_ms: input.timeout_ms ?? before?.timeout_ms ?? usualTimeout_ms,
    header_names: input.headers ? Object.keys(input.headers) : (before?.header_names ?? []),
    listing: before?.server_url === server_url ? before.listing : neverListed,
    ...changedAuth(input, before),
  };
}

const serializeMcp = (mcp: McpDefinition) => ({
  server_url: mcp.server_url,
  allowed_tools: mcp.allowed_tools,
  headers: masked(mcp.header_names),
  auth: showAuth(mcp),
  timeout_ms: mcp.timeout_ms,
  tools: offered(mcp).map(({ name, description, parameters }) => ({ name, description, parameters })),
  skipped: skippedTools(mcp),
  listed_at: timestampOrNull(mcp.listing.listed_at_ms),
  last_error: mcp.listing.last_error && showError(mcp.listing.last_error),
});

const showError = ({ code, message, at_ms }: NonNullable<Listing["last_error"]>) => ({
  code,
  message,
  at: timestamp(at_ms),
});

/** The server's tools that agents get. */
export const offered = ({ listing, allowed_tools }: McpDefinition): McpTool[] =>
  listing.tools.filter(({ name }) => allowed_tools?.includes(name) ?? true);

/** Requested tools that agents do not get. */
function skippedTools({ listing, allowed_tools }: McpDefinition): McpListing["skipped"] {
  const skippedByServer = listing.skipped.filter(({ name }) => allowed_tools?.includes(name) ?? true);
  if (listing.listed_at_ms === null) return skippedByServer;
  const known = new Set([...listing.tools, ...listing.skipped].map(({ name }) => name));
  const absent = (allowed_tools ?? []).filter((name) => !known.has(name));
  return [...skippedByServer, ...absent.map((name) => ({ name, reason: "The server has no such tool." }))];
}
