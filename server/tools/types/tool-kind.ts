import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { type ApprovalRule, type ToolSnapshot, unknownPolicies } from "../../core/agent-snapshot.ts";
import type { Fault } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/model-call.ts";
import { JsonObject, Metadata } from "../../http/schemas.ts";
import { exact, named, oneOf } from "../../lib/schema.ts";
import type { SandboxLevel } from "../../wire/names.ts";

/** What clients may give for a tool of any type. */
export const commonFields = {
  name: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  description: Type.String({ maxLength: 4096 }),
  parameters: JsonObject,
  approval: Type.Union([
    Type.Literal("never"),
    Type.Literal("always"),
    named("ApprovalCondition", exact({ when: JsonObject })),
  ]),
  on_unknown: oneOf(unknownPolicies),
  max_output_bytes: Type.Integer({ minimum: 1, maximum: 262_144 }),
  enabled: Type.Boolean(),
  metadata: Metadata,
};

/** What clients gave for a tool with these fields beside those of all. */
export type Given<Own extends TProperties = Record<never, never>> = {
  [Name in keyof (typeof commonFields & Own)]?: Static<(typeof commonFields & Own)[Name]>;
};

/** What stands in a row of every tool. */
export interface CommonDefinition {
  description: string;
  /** Of no meaning where the type or the source says what the parameters are: `parametersOf` knows. */
  parameters: JsonSchema;
  approval: ApprovalRule;
  on_unknown: ToolSnapshot["on_unknown"];
  max_output_bytes: number;
  enabled: boolean;
}

/** What is particular to tools of one type. Each module of this folder that exports `kind` is one. */
export interface ToolKind<Input, Definition extends CommonDefinition> {
  /** The fields that clients may give beside those of all tools. */
  fields: TProperties;
  /** What clients see beside the fields of all tools. */
  told: TProperties;
  /** What fields mean that only this type has; of others `wire/descriptions.ts` says it. */
  about?: Record<string, string>;
  /** What is wrong with what a client wants one to be, beyond the schema; `before` is null for a new one. */
  faults(input: Input, before: Definition | null, known: Known): Fault[];
  /** Their part of the definition, with changes over an earlier one or over the defaults. */
  change(input: Input, before: Definition | null): Partial<Definition>;
  /** The same, of one. */
  show(definition: Definition): Record<string, unknown>;
  /** What a run pins to call one; null where each of several tools is pinned by itself (an MCP server's). */
  call: ((definition: Definition, sealed: string) => Pick<ToolSnapshot, "idempotent"> & Partial<ToolSnapshot>) | null;
  /** What the arguments must fit where the type says it: null where there are none, undefined where the tool says it. */
  fixedParameters?(definition: Definition): JsonSchema | null | undefined;
  /** What a model reads in place of the description. */
  modelReads?(definition: Definition): string;
  /** Of types that send requests. */
  sends?: Sends<Definition>;
  /** Why one cannot be called outside of a run. */
  untestable?: string;
}

export interface Sends<Definition> {
  /** The field that says where to. */
  field: "url" | "server_url";
  /** Whether calls are signed, for the receiver to verify. */
  signed: boolean;
  /** Names of headers that every call sets itself, in lower case. */
  ownHeaders: readonly string[];
  to(definition: Definition): { address: string; header_names: readonly string[] };
}

/** What there is that a tool may refer to. */
export interface Known {
  hasSecret(name: string): boolean;
  hasAgent(id: string): boolean;
  /** In the order of the ids; throws with a fault for each that is none. */
  files(ids: readonly string[]): readonly { filename: string }[];
  /** Whether the operator configured an MCP server of this name. */
  hasStdioServer(name: string): boolean;
  sandboxLevel: SandboxLevel;
}
