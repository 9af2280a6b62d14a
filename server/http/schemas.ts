import { type Static, Type } from "@sinclair/typebox";
import { mostTurns, rerankTypes } from "../domain/agent-snapshot.ts";
import { Budget as anyBudget } from "../domain/budget-schema.ts";
import { chunkingBounds } from "../domain/chunking.ts";
import { Metadata as anyMetadata, namedInPaths } from "../domain/fields.ts";
import { idPattern, type Kind } from "../domain/ids.ts";
import { limits } from "../domain/limits.ts";
import { reasoningEfforts, toolChoices } from "../domain/providers.ts";
import { inputRoles } from "../domain/run-input.ts";
import { closedObject, named, oneOf, open, orNull, partial } from "../lib/schema.ts";

// Request bodies use these instead of Elysia's `t.Integer`, which accepts "5" for 5.

/** Key-value pairs of the client; names may have any characters, but must not be empty or too long. */
export const Metadata = named("Metadata", anyMetadata);

export const idOf = (kind: Kind) => Type.String({ pattern: idPattern(kind) });

/** A client's own id as a list filter. Also matches ids accepted before `Subject` had its pattern. */
export const SubjectFilter = Type.String({ minLength: 1, maxLength: limits.subject_length });

/** An id chosen by the client, such as a user id; not `.` or `..`, because no path could contain it. */
export const Subject = Type.String({ ...SubjectFilter, pattern: namedInPaths });

/** Owner of a part of a memory store: the client's id of a user or session. */
export const ScopeIdFilter = Type.String({ minLength: 1, maxLength: limits.scope_id_length });
export const ScopeId = Type.String({ ...ScopeIdFilter, pattern: namedInPaths });

/** Path parameters with an id; an invalid id is 404. */
export const pathOf = (kind: Kind) => pathWith({ id: idOf(kind) });

/** Path parameters. Dashboard paths also have project and environment. */
export const pathWith = open;

/** Maximum spend of a run, with at least one limit. */
export const Budget = named("BudgetInput", { ...anyBudget, minProperties: 1 });

/** An empty request body. */
export const EmptyBody = closedObject({});

/** JSON validated elsewhere. */
export const JsonObject = named("JsonObject", Type.Record(Type.String(), Type.Unknown()));

/** Id of a tool call, as chosen by clients and models. */
const CallId = Type.String({ pattern: "^[\\w.:-]{1,128}$" });

const InputPart = named(
  "RunInputPart",
  Type.Union([
    named(
      "RunInputText",
      closedObject({ type: Type.Literal("text"), text: Type.String({ minLength: 1, maxLength: limits.input_bytes }) }),
    ),
    named(
      "RunInputImage",
      closedObject({
        type: Type.Literal("image"),
        file_id: Type.Optional(idOf("file")),
        data: Type.Optional(Type.String()),
      }),
    ),
  ]),
);

/** A message of a user, an assistant or a tool. `inputFault` checks which fields may be combined. */
export const InputMessage = named(
  "RunInputMessage",
  closedObject({
    role: oneOf(inputRoles),
    content: Type.Union([
      Type.String({ maxLength: limits.input_bytes }),
      Type.Array(InputPart, { minItems: 1, maxItems: limits.input_parts }),
    ]),
    tool_calls: Type.Optional(
      Type.Array(
        named(
          "RunInputCall",
          closedObject({ id: CallId, name: Type.String({ minLength: 1, maxLength: 128 }), arguments: JsonObject }),
        ),
        { minItems: 1, maxItems: limits.tools_per_agent },
      ),
    ),
    tool_call_id: Type.Optional(CallId),
    is_error: Type.Optional(Type.Boolean()),
  }),
);

/** Limits for all messages of an input together. */
export const inputMost = { bytes: limits.input_bytes, images: limits.files_per_run };

/** Input of a run. `inputFault` checks the rest: total size and the role of the last message. */
export const RunInput = named(
  "RunInput",
  Type.Union([
    Type.String({ minLength: 1, maxLength: limits.input_bytes }),
    Type.Array(InputMessage, { minItems: 1, maxItems: limits.input_messages }),
  ]),
);

/** Chunk sizes for texts that are searched and cited. */
export const Chunking = named(
  "Chunking",
  partial({
    max_chunk_size_tokens: Type.Integer({ minimum: chunkingBounds.min, maximum: chunkingBounds.max }),
    chunk_overlap_tokens: Type.Integer({ minimum: 0, maximum: chunkingBounds.max / 2 }),
  }),
);

/** Agent fields that a run may override. */
export const agentFields = {
  instructions: Type.String({ maxLength: limits.instructions_bytes }),
  model: Type.String({ minLength: 1, maxLength: 300 }),
  tools: Type.Array(idOf("tool"), { maxItems: limits.tools_per_agent, uniqueItems: true }),
  max_turns: Type.Integer({ minimum: 1, maximum: mostTurns }),
  output_schema: orNull(JsonObject),
};

/** Model settings. */
export const settingFields = {
  temperature: Type.Number({ minimum: 0, maximum: limits.temperature }),
  top_p: Type.Number({ minimum: 0, maximum: 1 }),
  max_output_tokens: Type.Integer({ minimum: 1, maximum: limits.output_tokens }),
  reasoning_effort: oneOf(reasoningEfforts),
  parallel_tool_calls: Type.Boolean(),
  tool_choice: Type.Union([
    oneOf(toolChoices),
    named("ToolChoice", closedObject({ name: Type.String({ minLength: 1, maxLength: 128 }) })),
  ]),
  stop: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: limits.stop_texts }),
  seed: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
};

/** A model that reranks search results. */
export const RerankInput = named(
  "RerankInput",
  closedObject({
    model: Type.String({ minLength: 1, maxLength: 300 }),
    type: Type.Optional(oneOf(rerankTypes)),
    candidates: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  }),
);

/** Options for choosing and showing passages. */
export const passageChoices = {
  diversity: Type.Number({ minimum: 0, maximum: 1 }),
  neighbors: Type.Integer({ minimum: 0, maximum: limits.neighbors }),
};

/** Part of its thread that a run sees. */
export const HistoryInput = named(
  "HistoryPolicyInput",
  partial({
    mode: oneOf(["none", "thread"] as const),
    max_messages: Type.Integer({ minimum: 1, maximum: 200 }),
  }),
);

/** The `overrides` of a run. */
export const AgentOverrides = named(
  "AgentOverrides",
  partial({
    ...agentFields,
    additional_instructions: agentFields.instructions,
    history: HistoryInput,
    model_settings: named("ModelSettingsOverrides", partial(settingFields)),
  }),
);
export type AgentOverrides = Static<typeof AgentOverrides>;
