import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import {
  type AgentCall,
  type ApprovalRule,
  type CodeCall,
  type CodeLanguage,
  type EmailCall,
  type HttpCall,
  type PageCall,
  type ToolBase,
  type ToolSnapshot,
  type ToolType,
  unknownPolicies,
} from "../../../domain/agent-snapshot.ts";
import type { SandboxLevel } from "../../../domain/api-types/enums.ts";
import type { Fault } from "../../../domain/errors.ts";
import type { OpenApiOrigin, RequestMapping } from "../../../domain/http-request.ts";
import type { JsonSchema } from "../../../domain/model-call.ts";
import type { ResponseFailure } from "../../../domain/response-failure.ts";
import type { WorkspaceChoice } from "../../../domain/workspace-limits.ts";
import { EnabledInput, JsonObject, Metadata } from "../../../http/schemas.ts";
import { about, closedObject, named, oneOf } from "../../../lib/schema.ts";
import type { McpListing } from "../../../runtime/mcp/read-tools.ts";
import type { SystemPython } from "../../../runtime/sandbox/system-python.ts";

/** Fields that tools of every type may have. */
export const commonFields = {
  name: about(
    "The name by which the model calls the tool; unique among the tools.",
    Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  ),
  description: about("What the tool is for; the model reads it.", Type.String({ maxLength: 4096 })),
  parameters: about(
    "The JSON Schema (2020-12) of the arguments. Arguments that do not match are returned to the model as an error.",
    JsonObject,
  ),
  approval: about(
    "Whether a person decides before each call.",
    Type.Union([
      Type.Literal("never"),
      Type.Literal("always"),
      named(
        "ApprovalCondition",
        closedObject({ when: about("A JSON Schema of the arguments: calls that match it need approval.", JsonObject) }),
      ),
    ]),
  ),
  on_unknown: about("What happens when it is unknown whether an interrupted call took place.", oneOf(unknownPolicies)),
  max_output_bytes: about(
    "How many bytes of an output the model reads.",
    Type.Integer({ minimum: 1, maximum: 262_144 }),
  ),
  enabled: EnabledInput,
  metadata: Metadata,
};

/** Input for a new or changed tool: the common fields, and those of every type. */
export interface ToolInput extends Partial<Static<TObject<typeof commonFields>>> {
  url?: string;
  method?: string;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  request?: RequestMapping | null;
  /** Set by an import only. */
  openapi?: OpenApiOrigin;
  auth?: { type: "oauth"; oauth_client_id?: string; per_user?: boolean; scopes?: string[] } | null;
  timeout_ms?: number;
  retries?: number;
  response?: HttpCall["response"];
  idempotent?: boolean;
  language?: CodeLanguage;
  source?: string | null;
  memory_mb?: number;
  files?: string[];
  workspace?: WorkspaceChoice;
  server_url?: string;
  allowed_tools?: string[] | null;
  agent_id?: string;
  version?: number | null;
  label?: string | null;
  output_fields?: string[] | null;
  failures?: ResponseFailure[] | null;
  allowed_hosts?: string[] | null;
  smtp_url?: string;
  from?: string;
  password?: string;
  allowed_recipients?: string[] | null;
}

/** Stored fields of a tool, without name and secrets. One of a type has the settings of that type. */
export interface Definition {
  description: string;
  /** Ignored if the type or the source defines the parameters: see `parametersOf`. */
  parameters: JsonSchema;
  approval: ApprovalRule;
  on_unknown: ToolSnapshot["on_unknown"];
  max_output_bytes: number;
  enabled: boolean;
  /** For http and webhook tools, else null. */
  http: HttpDefinition | null;
  code?: CodeDefinition;
  mcp?: McpDefinition;
  agent?: AgentCall;
  page?: PageCall;
  email?: EmailDefinition;
}

/** Settings of http and webhook tools. */
export interface HttpDefinition extends Omit<HttpCall, "sealed"> {
  /** Null: depends on the method. */
  idempotent: boolean | null;
  header_names: string[];
  /** Absent: none. */
  query_names?: string[];
  /** Absent: the tool was not imported. */
  openapi?: OpenApiOrigin;
}

export interface EmailDefinition extends Omit<EmailCall, "sealed"> {
  has_password: boolean;
}

export type CodeDefinition = Omit<CodeCall, "file_ids"> & { files: string[] };

export interface McpDefinition {
  server_url: string;
  /** Null: all of the server's tools. */
  allowed_tools: string[] | null;
  timeout_ms: number;
  header_names: string[];
  oauth_client_id?: string;
  listing: Listing;
}

/** A server's listed tools with the time, and the error of the last request, if any. */
export interface Listing extends McpListing {
  listed_at_ms: number | null;
  last_error: { code: string; message: string; at_ms: number } | null;
}

/** Fields that a run pins whatever the tool's type is. `type` stands among them in the stored order. */
export type PinnedBase = Omit<ToolBase, "idempotent"> & { type: ToolType };

/** Behavior of one tool type. */
export interface ToolKind {
  /** Input fields beside the common ones. */
  fields: TProperties;
  /** Output fields beside the common ones. */
  response: TProperties;
  /** Faults of a new or changed tool, beyond the schema; `before` is null for a new one. */
  faults(input: ToolInput, before: Definition | null, known: Known): Fault[];
  /** Applies changes to the type's part of an earlier definition or the defaults. */
  change(input: ToolInput, before: Definition | null): Partial<Definition>;
  /** Serializes the type's part of a definition. */
  show(definition: Definition): Record<string, unknown>;
  /** Returns the snapshot that a run pins; absent if its tools are pinned separately (MCP servers). */
  snapshot?(base: PinnedBase, definition: Definition, sealed: string): ToolSnapshot;
  /** Parameter schema if the type defines it: null if there are none, undefined if the tool defines it. */
  fixedParameters?(definition: Definition): JsonSchema | null | undefined;
  /** Text that the model reads in place of the description. */
  modelReads?(definition: Definition, python: SystemPython | null): string;
  /** For types that send requests. */
  sends?: Sends;
  /** Reason why a tool of this type cannot be called outside of a run. */
  untestable?: string;
}

export interface Sends {
  /** Field with the address. */
  field: "url" | "server_url" | "smtp_url";
  /** Field with the secrets. */
  secretField: "headers" | "password";
  /** True if requests are signed. */
  signed: boolean;
  /** Headers that the server sets on every call, in lower case. */
  ownHeaders: readonly string[];
  to(definition: Definition): {
    address: string;
    header_names: readonly string[];
    query_names?: readonly string[];
    oauth_client_id?: string;
  };
}

/** Returns a type's settings in a definition. Throws if it has none: it is of another type. */
export function requireSettings<Settings>(settings: Settings | null | undefined): Settings {
  if (!settings) throw new Error("The tool is of another type.");
  return settings;
}

/** Lookups of objects that a tool may refer to. */
export interface Known {
  hasSecret(name: string): boolean;
  hasOAuthClient(id: string): boolean;
  hasAgent(id: string): boolean;
  /** In the order of the ids. Throws with a fault for each unknown one. */
  files(ids: readonly string[]): readonly { filename: string }[];
  /** True if the operator configured an MCP server of this name. */
  hasStdioServer(name: string): boolean;
  sandboxLevel: SandboxLevel;
}
