import { type Static, Type } from "@sinclair/typebox";
import { mostTurns, rerankTypes } from "../core/agent-snapshot.ts";
import { Budget as anyBudget } from "../core/budget-schema.ts";
import { Metadata as anyMetadata, namedInPaths } from "../core/fields.ts";
import { idPattern, type Kind } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { reasoningEfforts, toolChoices } from "../core/providers.ts";
import { inputRoles } from "../core/run-input.ts";
import { chunkingBounds } from "../documents/chunking.ts";
import { exact, named, oneOf, open, orNull, partial } from "../lib/schema.ts";

// Bodies use these and never `t.Integer` of the framework, which takes "5" for 5.

/** Pairs of a client's own; a name of any characters, but neither empty nor long. */
export const Metadata = named("Metadata", anyMetadata);

export const idOf = (kind: Kind) => Type.String({ pattern: idPattern(kind) });

/** An id of the client's own, as a list is filtered by it: one that was taken before there was a rule is found too. */
export const SubjectFilter = Type.String({ minLength: 1, maxLength: limits.subject_length });

/** An id that a client chose, such as that of one of its users. No path can name one that is `.` or `..`. */
export const Subject = Type.String({ ...SubjectFilter, pattern: namedInPaths });

/** Whose a part of a memory store is: a user or a session, in the client's own words. */
export const ScopeIdFilter = Type.String({ minLength: 1, maxLength: limits.scope_id_length });
export const ScopeId = Type.String({ ...ScopeIdFilter, pattern: namedInPaths });

/** Parameters of a path that ends in an id; one that cannot be an id is 404. */
export const pathOf = (kind: Kind) => pathWith({ id: idOf(kind) });

/** Parameters of a path. Under the console there are more of them: project and environment. */
export const pathWith = open;

/** What a run may spend at most; what bounds nothing is no budget. */
export const Budget = named("BudgetInput", { ...anyBudget, minProperties: 1 });

/** The body of a request that says nothing. */
export const NoBody = exact({});

/** JSON that is checked elsewhere. */
export const JsonObject = named("JsonObject", Type.Record(Type.String(), Type.Unknown()));

/** The id of a tool call, as clients and models name them. */
const CallId = Type.String({ pattern: "^[\\w.:-]{1,128}$" });

const InputPart = named(
  "RunInputPart",
  Type.Union([
    named(
      "RunInputText",
      exact({ type: Type.Literal("text"), text: Type.String({ minLength: 1, maxLength: limits.input_bytes }) }),
    ),
    named(
      "RunInputImage",
      exact({ type: Type.Literal("image"), file_id: Type.Optional(idOf("file")), data: Type.Optional(Type.String()) }),
    ),
  ]),
);

/** Something that a user said, an assistant answered or asked for, or a tool gave. What fits together says `inputFault`. */
export const InputMessage = named(
  "RunInputMessage",
  exact({
    role: oneOf(inputRoles),
    content: Type.Union([
      Type.String({ maxLength: limits.input_bytes }),
      Type.Array(InputPart, { minItems: 1, maxItems: limits.input_parts }),
    ]),
    tool_calls: Type.Optional(
      Type.Array(
        named(
          "RunInputCall",
          exact({ id: CallId, name: Type.String({ minLength: 1, maxLength: 128 }), arguments: JsonObject }),
        ),
        { minItems: 1, maxItems: limits.tools_per_agent },
      ),
    ),
    tool_call_id: Type.Optional(CallId),
    is_error: Type.Optional(Type.Boolean()),
  }),
);

/** Of all messages of an input together. */
export const inputMost = { bytes: limits.input_bytes, images: limits.files_per_run };

/** What a run is asked. What a text has no place for (bytes, whose the last message is) is a rule of `inputFault`. */
export const RunInput = named(
  "RunInput",
  Type.Union([
    Type.String({ minLength: 1, maxLength: limits.input_bytes }),
    Type.Array(InputMessage, { minItems: 1, maxItems: limits.input_messages }),
  ]),
);

/** How a text is cut into the pieces that are cited and searched. */
export const Chunking = named(
  "Chunking",
  partial({
    max_chunk_size_tokens: Type.Integer({ minimum: chunkingBounds.min, maximum: chunkingBounds.max }),
    chunk_overlap_tokens: Type.Integer({ minimum: 0, maximum: chunkingBounds.max / 2 }),
  }),
);

/** The fields of an agent that a run may have different. */
export const agentFields = {
  instructions: Type.String({ maxLength: limits.instructions_bytes }),
  model: Type.String({ minLength: 1, maxLength: 300 }),
  tools: Type.Array(idOf("tool"), { maxItems: limits.tools_per_agent, uniqueItems: true }),
  max_turns: Type.Integer({ minimum: 1, maximum: mostTurns }),
  output_schema: orNull(JsonObject),
};

/** How a model is asked. */
export const settingFields = {
  temperature: Type.Number({ minimum: 0, maximum: limits.temperature }),
  top_p: Type.Number({ minimum: 0, maximum: 1 }),
  max_output_tokens: Type.Integer({ minimum: 1, maximum: limits.output_tokens }),
  reasoning_effort: oneOf(reasoningEfforts),
  parallel_tool_calls: Type.Boolean(),
  tool_choice: Type.Union([
    oneOf(toolChoices),
    named("ToolChoice", exact({ name: Type.String({ minLength: 1, maxLength: 128 }) })),
  ]),
  stop: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: limits.stop_texts }),
  seed: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
};

/** A model that puts what was found into a better order. */
export const RerankInput = named(
  "RerankInput",
  exact({
    model: Type.String({ minLength: 1, maxLength: 300 }),
    type: Type.Optional(oneOf(rerankTypes)),
    candidates: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  }),
);

/** How the passages found are chosen and shown. */
export const passageChoices = {
  diversity: Type.Number({ minimum: 0, maximum: 1 }),
  neighbors: Type.Integer({ minimum: 0, maximum: limits.neighbors }),
};

/** How much of its thread a run is told. */
export const HistoryInput = named(
  "HistoryPolicyInput",
  partial({
    mode: oneOf(["none", "thread"] as const),
    max_messages: Type.Integer({ minimum: 1, maximum: 200 }),
  }),
);

/** What `overrides` of a run may hold. */
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
