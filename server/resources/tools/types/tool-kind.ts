import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { type ApprovalRule, type ToolSnapshot, unknownPolicies } from "../../../domain/agent-snapshot.ts";
import type { SandboxLevel } from "../../../domain/api-types/enums.ts";
import type { Fault } from "../../../domain/errors.ts";
import type { JsonSchema } from "../../../domain/model-call.ts";
import { JsonObject, Metadata } from "../../../http/schemas.ts";
import { about, closedObject, named, oneOf } from "../../../lib/schema.ts";

/** Fields that tools of every type may have. */
export const commonFields = {
  name: about("Its name.", Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" })),
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
  enabled: about("Whether it is in use.", Type.Boolean()),
  metadata: Metadata,
};

/** Input for a tool with these fields beside the common ones. */
export type Given<Own extends TProperties = Record<never, never>> = {
  [Name in keyof (typeof commonFields & Own)]?: Static<(typeof commonFields & Own)[Name]>;
};

/** Stored fields of every tool. */
export interface CommonDefinition {
  description: string;
  /** Ignored if the type or the source defines the parameters: see `parametersOf`. */
  parameters: JsonSchema;
  approval: ApprovalRule;
  on_unknown: ToolSnapshot["on_unknown"];
  max_output_bytes: number;
  enabled: boolean;
}

/** Behavior of one tool type. Each module of this folder exports one as `kind`. */
export interface ToolKind<Input, Definition extends CommonDefinition> {
  /** Input fields beside the common ones. */
  fields: TProperties;
  /** Output fields beside the common ones. */
  response: TProperties;
  /** Faults of a new or changed tool, beyond the schema; `before` is null for a new one. */
  faults(input: Input, before: Definition | null, known: Known): Fault[];
  /** Applies changes to the type's part of an earlier definition or the defaults. */
  change(input: Input, before: Definition | null): Partial<Definition>;
  /** Serializes the type's part of a definition. */
  show(definition: Definition): Record<string, unknown>;
  /** Snapshot fields for calling the tool; null if its tools are pinned separately (MCP servers). */
  call: ((definition: Definition, sealed: string) => Pick<ToolSnapshot, "idempotent"> & Partial<ToolSnapshot>) | null;
  /** Parameter schema if the type defines it: null if there are none, undefined if the tool defines it. */
  fixedParameters?(definition: Definition): JsonSchema | null | undefined;
  /** Text that the model reads in place of the description. */
  modelReads?(definition: Definition): string;
  /** For types that send requests. */
  sends?: Sends<Definition>;
  /** Reason why a tool of this type cannot be called outside of a run. */
  untestable?: string;
}

export interface Sends<Definition> {
  /** Field with the address. */
  field: "url" | "server_url";
  /** True if requests are signed. */
  signed: boolean;
  /** Headers that the server sets on every call, in lower case. */
  ownHeaders: readonly string[];
  to(definition: Definition): { address: string; header_names: readonly string[] };
}

/** Lookups of objects that a tool may refer to. */
export interface Known {
  hasSecret(name: string): boolean;
  hasAgent(id: string): boolean;
  /** In the order of the ids. Throws with a fault for each unknown one. */
  files(ids: readonly string[]): readonly { filename: string }[];
  /** True if the operator configured an MCP server of this name. */
  hasStdioServer(name: string): boolean;
  sandboxLevel: SandboxLevel;
}
