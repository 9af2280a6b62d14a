import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { JsonObject, Metadata, Subject, settingFields } from "../../http/schemas.ts";
import { open } from "../../lib/schema.ts";

// Request bodies of OpenAI's clients. Other fields are ignored, because clients send many that change nothing.

/** Clients send null for absent fields. */
export const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

const Text = Type.String();

const Part = open({
  type: Text,
  text: nullable(Text),
  refusal: nullable(Text),
  image_url: nullable(open({ url: Text })),
  file: nullable(open({ file_id: nullable(Text), file_data: nullable(Text), filename: nullable(Text) })),
  input_audio: nullable(open({ data: Text, format: nullable(Text) })),
});

export type ChatPart = Static<typeof Part>;

const Call = open({ id: Text, type: Text, function: nullable(open({ name: Text, arguments: Text })) });

const Message = open({
  role: Text,
  content: nullable(Type.Union([Text, Type.Array(Part, { maxItems: limits.input_parts })])),
  tool_calls: nullable(Type.Array(Call)),
  tool_call_id: nullable(Text),
});
export type ChatMessage = Static<typeof Message>;

const ToolFunction = open({ name: Text, description: nullable(Text), parameters: nullable(JsonObject) });
const Tool = open({ type: Text, function: nullable(ToolFunction) });

const ResponseFormat = open({ type: Text, json_schema: nullable(open({ schema: nullable(JsonObject) })) });

/** Body of `POST /chat/completions`. */
export const CreateChatCompletion = open({
  model: Text,
  messages: Type.Array(Message, { minItems: 1, maxItems: 2 * limits.input_messages }),
  stream: nullable(Type.Boolean()),
  stream_options: nullable(open({ include_usage: nullable(Type.Boolean()) })),
  tools: nullable(Type.Array(Tool, { maxItems: limits.tools_per_agent })),
  tool_choice: nullable(Type.Union([Text, open({ type: Text, function: nullable(open({ name: Text })) })])),
  parallel_tool_calls: nullable(Type.Boolean()),
  response_format: nullable(ResponseFormat),
  temperature: nullable(settingFields.temperature),
  top_p: nullable(settingFields.top_p),
  max_tokens: nullable(settingFields.max_output_tokens),
  max_completion_tokens: nullable(settingFields.max_output_tokens),
  reasoning_effort: nullable(Text),
  seed: nullable(settingFields.seed),
  stop: nullable(Type.Union([Text, settingFields.stop])),
  n: nullable(Type.Integer()),
  metadata: nullable(Metadata),
  user: nullable(Subject),
  safety_identifier: nullable(Subject),
});
export type CreateChatCompletion = Static<typeof CreateChatCompletion>;
