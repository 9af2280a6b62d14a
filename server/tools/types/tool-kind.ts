import type { TProperties } from "@sinclair/typebox";
import type { ToolSnapshot } from "../../core/agent-snapshot.ts";
import type { Fault } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/model-call.ts";
import type { SandboxLevel } from "../../wire/names.ts";
import type { Definition } from "../definition.ts";
import type { UpdateTool } from "../schema.ts";

/** What is particular to tools of one type. Each module of this folder is one, and `tool-kinds.ts` lists them. */
export interface ToolKind {
  /** The fields that they have beside those of all tools. */
  fields: TProperties;
  /** What is wrong with what a client wants one to be, beyond the schema; `before` is null for a new one. */
  faults(input: UpdateTool, before: Definition | null, known: Known): Fault[];
  /** Their part of the definition, with changes over an earlier one or over the defaults. */
  change(input: UpdateTool, before: Definition | null): Partial<Definition>;
  /** Their fields as clients see them. */
  show(definition: Definition): Record<string, unknown>;
  /** What a run pins to call one; null where each of several tools is pinned by itself (an MCP server's). */
  call: ((definition: Definition, sealed: string) => Pick<ToolSnapshot, "idempotent"> & Partial<ToolSnapshot>) | null;
  /** What the arguments must fit where the type says it: null where there are none, undefined where the tool says it. */
  fixedParameters?(definition: Definition): JsonSchema | null | undefined;
  /** What a model reads in place of the description. */
  modelReads?(definition: Definition): string;
  /** Of types that send requests. */
  sends?: Sends;
  /** Why one cannot be called outside of a run. */
  untestable?: string;
}

export interface Sends {
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
