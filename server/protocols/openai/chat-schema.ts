import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { JsonObject, Metadata, Subject, settingFields } from "../../http/schemas.ts";
import { open } from "../../lib/schema.ts";

// Request bodies of OpenAI's clients. Other fields are ignored, because clients send many that change nothing.

/** Clients send null for absent fields. */
export const given = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

const Text = Type.String();

const Part = open({ type: Text, text: given(Text), refusal: given(Text), image_url: given(open({ url: Text })) });

const Call = open({ id: Text, type: Text, function: given(open({ name: Text, arguments: Text })) });

const Message = open({
  role: Text,
  content: given(Type.Union([Text, Type.Array(Part, { maxItems: limits.input_parts })])),
  tool_calls: given(Type.Array(Call)),
  tool_call_id: given(Text),
});
export type ChatMessage = Static<typeof Message>;

const ToolFunction = open({ name: Text, description: given(Text), parameters: given(JsonObject) });
const Tool = open({ type: Text, function: given(ToolFunction) });

const ResponseFormat = open({ type: Text, json_schema: given(open({ schema: given(JsonObject) })) });

/** Body of `POST /chat/completions`. */
export const CreateChatCompletion = open({
  model: Text,
  messages: Type.Array(Message, { minItems: 1, maxItems: 2 * limits.input_messages }),
  stream: given(Type.Boolean()),
  stream_options: given(open({ include_usage: given(Type.Boolean()) })),
  tools: given(Type.Array(Tool, { maxItems: limits.tools_per_agent })),
  tool_choice: given(Type.Union([Text, open({ type: Text, function: given(open({ name: Text })) })])),
  parallel_tool_calls: given(Type.Boolean()),
  response_format: given(ResponseFormat),
  temperature: given(settingFields.temperature),
  top_p: given(settingFields.top_p),
  max_tokens: given(settingFields.max_output_tokens),
  max_completion_tokens: given(settingFields.max_output_tokens),
  reasoning_effort: given(Text),
  seed: given(settingFields.seed),
  stop: given(Type.Union([Text, settingFields.stop])),
  n: given(Type.Integer()),
  metadata: given(Metadata),
  user: given(Subject),
  safety_identifier: given(Subject),
});
export type CreateChatCompletion = Static<typeof CreateChatCompletion>;
