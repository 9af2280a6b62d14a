import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { labelPattern } from "../domain/agent-label.ts";
import { historyModes, mostTurns, rerankTypes } from "../domain/agent-snapshot.ts";
import { Budget as anyBudget } from "../domain/budget-schema.ts";
import { chunkingBounds } from "../domain/chunking.ts";
import { Metadata as anyMetadata, namedInPaths, wellFormedText } from "../domain/fields.ts";
import { idPattern, type Kind, prefixes } from "../domain/ids.ts";
import { limits } from "../domain/limits.ts";
import { reasoningEfforts, toolChoices } from "../domain/providers.ts";
import { inputRoles } from "../domain/run-input.ts";
import { toolLoadings } from "../domain/tool-search/search-tool.ts";
import type { VariableValues as CoreVariableValues } from "../domain/variable.ts";
import { about, closedObject, named, oneOf, open, orNull, partial } from "../lib/schema.ts";

// Request bodies use these instead of Elysia's `t.Integer`, which accepts "5" for 5.

/** Key-value pairs of the client; names may have any characters, but must not be empty or too long. */
export const Metadata = about("Up to 16 key-value pairs of your own.", named("Metadata", anyMetadata));

/** The name of a thing that its project has several of. */
export const GivenName = about(
  "The name that you give it, by which people find it in lists and in the dashboard.",
  Type.String({ minLength: 1, maxLength: limits.name_length }),
);

export const EnabledInput = about(
  "Whether it is in use. What is switched off is kept, and does nothing.",
  Type.Boolean(),
);

/** Arguments of a call, in place of the model's. */
export const GivenArguments = "What the call is given, by the names of the tool's `parameters`.";

export const idOf = (kind: Kind) => Type.String({ pattern: idPattern(kind) });

/** A client's own id as a list filter. Also matches ids accepted before `Subject` had its pattern. */
export const SubjectFilter = Type.String({ minLength: 1, maxLength: limits.subject_length });

/** An id chosen by the client, such as a user id; not `.` or `..`, because no path could contain it. */
export const Subject = Type.String({ ...SubjectFilter, pattern: namedInPaths, format: wellFormedText });

/** Owner of a part of a memory store: the client's id of a user or session. */
export const ScopeIdFilter = Type.String({ minLength: 1, maxLength: limits.scope_id_length });
export const ScopeId = Type.String({ ...ScopeIdFilter, pattern: namedInPaths, format: wellFormedText });

/** An agent by its id, or by its name, also with a label or a version behind an `@`. */
export const AgentReference = Type.String({ minLength: 1, maxLength: limits.name_length + limits.label_length + 1 });

/** Which version of the agent is meant; without both the newest. */
export const versionChoice = {
  version: about("The version of the agent. Default: the newest.", Type.Integer({ minimum: 1, maximum: 1e15 })),
  label: about(
    "A label of the agent, in place of a version.",
    Type.String({ pattern: labelPattern, examples: ["production"], maxLength: limits.label_length }),
  ),
};

/** The same in what stays: null takes back an earlier choice. */
export const changeableChoice = {
  version: about(
    "The version of the agent; null: the newest each time, or that of the label.",
    orNull(versionChoice.version),
  ),
  label: about("A label of the agent, read each time, in place of a version; null: none.", orNull(versionChoice.label)),
};

/** Path parameters with an id; an invalid id is 404. */
export const pathOf = (kind: Kind) =>
  pathWith({ id: about(`The ${kind.replaceAll("_", " ")}, by its id: \`${prefixes[kind]}_…\`.`, idOf(kind)) });

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

/** Contents of a part, of which it has one. */
const partContents = {
  file_id: about("Id of a file that was uploaded: `file_…`. Give this, `data` or `url`.", Type.Optional(idOf("file"))),
  data: about("The content: a `data:` URL, or base64.", Type.Optional(Type.String())),
  url: about(
    "A public https address, from which the server fetches the content once.",
    Type.Optional(Type.String({ minLength: 1, maxLength: 8192 })),
  ),
};
const PartText = about(
  "The words of this part of the message.",
  Type.String({ minLength: 1, maxLength: limits.input_bytes }),
);
const FileName = about(
  "The name of a document that is sent as data or fetched.",
  Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
);
const partOf = <T extends string, P extends TProperties>(name: string, type: T, properties: P) =>
  named(
    name,
    closedObject({
      type: about(`Always \`${type}\`: it says which other fields there are.`, Type.Literal(type)),
      ...properties,
    }),
  );

/** Parts under runnel's names, and under those of OpenAI's Responses and Chat Completions. */
const inputParts = [
  partOf("RunInputText", "text", { text: PartText }),
  partOf("RunInputImage", "image", partContents),
  partOf("RunInputAudio", "audio", partContents),
  partOf("RunInputFile", "file", { ...partContents, filename: FileName }),
  partOf("RunInputTextItem", "input_text", { text: PartText }),
  partOf("RunInputImageItem", "input_image", {
    file_id: partContents.file_id,
    data: partContents.data,
    image_url: about("A public https address, or a `data:` URL.", Type.Optional(Type.String({ minLength: 1 }))),
  }),
  partOf("RunInputFileItem", "input_file", {
    file_id: partContents.file_id,
    file_data: partContents.data,
    file_url: partContents.url,
    filename: FileName,
  }),
  partOf("RunInputAudioItem", "input_audio", {
    input_audio: about(
      "What was recorded, as data with its format.",
      named(
        "RunInputAudioData",
        closedObject({
          data: about("The content: base64, or a `data:` URL.", Type.String()),
          format: about("Its format, such as `wav` or `mp3`.", Type.Optional(Type.String({ maxLength: 32 }))),
        }),
      ),
    ),
  }),
] as const;

export const InputPart = named("RunInputPart", Type.Union([...inputParts]));

/** Errors of routes that take images, recordings and documents. */
export const mediaErrors = ["unsupported_input", "url_not_fetched"] as const;

const [textPart, imagePart, , , textItem, imageItem] = inputParts;
/** A part of a tool's result. */
export const OutputPart = named("ToolOutputPart", Type.Union([textPart, imagePart, textItem, imageItem]));

/** Content of a message. */
export const InputContent = Type.Union([
  Type.String({ maxLength: limits.input_bytes }),
  Type.Array(InputPart, { minItems: 1, maxItems: limits.input_parts }),
]);

/** A message of a user, an assistant or a tool. `inputFault` checks which fields may be combined. */
export const InputMessage = named(
  "RunInputMessage",
  closedObject({
    role: about("Who said it: `user`, `assistant` or, of a result, `tool`.", oneOf(inputRoles)),
    content: about("What was said: a text, or parts with images, recordings and documents.", InputContent),
    tool_calls: about(
      "What the assistant asked tools for in this message.",
      Type.Optional(
        Type.Array(
          named(
            "RunInputCall",
            closedObject({
              id: about("The id of the call, by which its result names it in `tool_call_id`.", CallId),
              name: about(
                "The name by which the model called the tool.",
                Type.String({ minLength: 1, maxLength: 128 }),
              ),
              arguments: about("What the model gave the call, by the names of the tool's `parameters`.", JsonObject),
            }),
          ),
          { minItems: 1, maxItems: limits.tools_per_agent },
        ),
      ),
    ),
    tool_call_id: about("The call whose result this message is, of the role `tool`.", Type.Optional(CallId)),
    is_error: about("Whether the output says what went wrong.", Type.Optional(Type.Boolean())),
  }),
);

/** Limits for all messages of an input together. */
export const inputMost = { bytes: limits.input_bytes, media: limits.files_per_run };

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
    max_chunk_size_tokens: about(
      "How many tokens a chunk has at most.",
      Type.Integer({ minimum: chunkingBounds.min, maximum: chunkingBounds.max }),
    ),
    chunk_overlap_tokens: about(
      "How many tokens of a chunk the next one repeats; less than half of a chunk.",
      Type.Integer({ minimum: 0, maximum: chunkingBounds.max / 2 }),
    ),
  }),
);

/** Agent fields that a run may override. */
export const overridableFields = {
  instructions: about(
    "The system prompt: what the agent is to do, and how. It stands before the conversation.",
    Type.String({ maxLength: limits.instructions_bytes }),
  ),
  model: about("The model, as `<provider>/<model>`.", Type.String({ minLength: 1, maxLength: 300 })),
  models: about(
    "Several models in their order, in place of `model`: the next one is asked if those before it cannot answer.",
    Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      minItems: 2,
      maxItems: limits.models_per_agent,
      uniqueItems: true,
    }),
  ),
  tools: about(
    "Ids of the tools that it may call.",
    Type.Array(idOf("tool"), { maxItems: limits.tools_per_agent, uniqueItems: true }),
  ),
  tool_loading: about(
    "Whether the model gets the definitions of all tools (`all`), or finds and loads those that it needs by a search (`deferred`). `auto` defers the agent's own tools, of MCP servers too, if there are more than 20.",
    oneOf(toolLoadings),
  ),
  max_turns: about("How many model calls a run may make.", Type.Integer({ minimum: 1, maximum: mostTurns })),
  output_schema: about("The JSON Schema that the last answer must fit; null: any answer.", orNull(JsonObject)),
};

/** Model settings. */
export const settingFields = {
  temperature: about(
    "The sampling temperature: higher values give more varied answers.",
    Type.Number({ minimum: 0, maximum: limits.temperature }),
  ),
  top_p: about(
    "Nucleus sampling: the model considers the tokens with this share of the probability.",
    Type.Number({ minimum: 0, maximum: 1 }),
  ),
  max_output_tokens: about(
    "How many tokens an answer may have, its thinking included.",
    Type.Integer({ minimum: 1, maximum: limits.output_tokens }),
  ),
  reasoning_effort: about("How much the model reasons before it answers.", oneOf(reasoningEfforts)),
  parallel_tool_calls: about("Whether the model may ask for several tools at once.", Type.Boolean()),
  tool_choice: about(
    "Whether the model calls tools: `auto`, `none`, or it must call one in its first answer (`required`, or the tool of this `name`).",
    Type.Union([
      oneOf(toolChoices),
      named(
        "ToolChoice",
        closedObject({
          name: about(
            "The tool that the model must call in its first answer.",
            Type.String({ minLength: 1, maxLength: 128 }),
          ),
        }),
      ),
    ]),
  ),
  stop: about(
    "Sequences at which the model stops.",
    Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: limits.stop_texts }),
  ),
  seed: about(
    "A seed for sampling, for models that support it: the same seed gives similar answers.",
    Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
  ),
};

/** A model that reranks search results. */
export const RerankInput = named(
  "RerankInput",
  closedObject({
    model: about("The model, as `<provider>/<model>`.", Type.String({ minLength: 1, maxLength: 300 })),
    type: about(
      "`cross_encoder`: a model for reranking scores each passage. `chat`: a chat model is asked for the order.",
      Type.Optional(oneOf(rerankTypes)),
    ),
    candidates: about(
      "How many of the passages found are given to the reranking model, never fewer than `top_k`.",
      Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    ),
  }),
);

/** Options for choosing and showing passages. */
export const passageChoices = {
  diversity: about(
    "How much a passage is penalized for similarity to a better one, from 0 (not at all) to 1. Results are in the order in which they were chosen.",
    Type.Number({ minimum: 0, maximum: 1 }),
  ),
  neighbors: about(
    "How many passages of the same document are shown before and after each one.",
    Type.Integer({ minimum: 0, maximum: limits.neighbors }),
  ),
};

/** Part of its thread that a run sees. */
export const HistoryInput = named(
  "HistoryPolicyInput",
  partial({
    mode: about("Whether its runs read their thread. It matters only where a run has one.", oneOf(historyModes)),
    max_messages: about(
      "How many of the thread's newest messages are read at most. Of a longer thread, runs read between four fifths of them and all, so that a provider can cache the conversation.",
      Type.Integer({ minimum: 1, maximum: 200 }),
    ),
  }),
);

/** The `overrides` of a run. */
export const AgentOverrides = named(
  "AgentOverrides",
  partial({
    ...overridableFields,
    additional_instructions: about("Instructions that are appended to the agent's.", overridableFields.instructions),
    history: about("How much of a thread its runs read.", HistoryInput),
    model_settings: about(
      "Settings of the model for this run; those of the agent apply to what is left out.",
      named("ModelSettingsOverrides", partial(settingFields)),
    ),
  }),
);
export type AgentOverrides = Static<typeof AgentOverrides>;

/** Values of variables by name; `valueIssues` checks them, because a number may have more digits than fit. */
export const VariableValues = Type.Unsafe<CoreVariableValues>(
  named("VariableValues", Type.Record(Type.String(), Type.Unknown())),
);
