import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { JsonObject, Metadata, Subject, settingFields } from "../../http/schemas.ts";
import { open } from "../../lib/schema.ts";
import { nullable } from "./chat-schema.ts";

// Request bodies of OpenAI's clients. Other fields are ignored, because clients send many that change nothing.

const Text = Type.String();
const Id = Type.String({ maxLength: 200 });

const Part = open({
  type: Text,
  text: nullable(Text),
  refusal: nullable(Text),
  image_url: nullable(Text),
  file_id: nullable(Id),
  file_data: nullable(Text),
  file_url: nullable(Text),
  filename: nullable(Text),
  input_audio: nullable(open({ data: Text, format: nullable(Text) })),
});
export type ItemPart = Static<typeof Part>;

const Item = open({
  type: nullable(Text),
  id: nullable(Id),
  role: nullable(Text),
  content: nullable(Type.Union([Text, Type.Array(Part, { maxItems: limits.input_parts })])),
  call_id: nullable(Id),
  name: nullable(Text),
  arguments: nullable(Text),
  output: nullable(Type.Union([Text, Type.Array(Part, { maxItems: limits.input_parts })])),
});
export type InputItem = Static<typeof Item>;

const Tool = open({ type: Text, name: nullable(Text), description: nullable(Text), parameters: nullable(JsonObject) });

const Format = open({ type: Text, schema: nullable(JsonObject) });

/** Body of `POST /responses`. */
export const CreateResponse = open({
  model: Text,
  input: nullable(Type.Union([Text, Type.Array(Item, { maxItems: 8 * limits.input_messages })])),
  instructions: nullable(Text),
  previous_response_id: nullable(Id),
  conversation: nullable(Type.Union([Id, open({ id: Id })])),
  stream: nullable(Type.Boolean()),
  background: nullable(Type.Boolean()),
  tools: nullable(Type.Array(Tool, { maxItems: limits.tools_per_agent })),
  tool_choice: nullable(Type.Union([Text, open({ type: Text, name: nullable(Text) })])),
  parallel_tool_calls: nullable(Type.Boolean()),
  text: nullable(open({ format: nullable(Format) })),
  reasoning: nullable(open({ effort: nullable(Text) })),
  temperature: nullable(settingFields.temperature),
  top_p: nullable(settingFields.top_p),
  max_output_tokens: nullable(settingFields.max_output_tokens),
  truncation: nullable(Text),
  metadata: nullable(Metadata),
  user: nullable(Subject),
  safety_identifier: nullable(Subject),
});
export type CreateResponse = Static<typeof CreateResponse>;

/** OpenAI's own limit. */
const Items = Type.Array(Item, { maxItems: 20 });

/** Body of `POST /conversations`. */
export const CreateConversation = open({ items: nullable(Items), metadata: nullable(Metadata) });
/** Body of `POST /conversations/:id`. */
export const UpdateConversation = open({ metadata: Type.Union([Metadata, Type.Null()]) });
/** Body of `POST /conversations/:id/items`. */
export const CreateItems = open({ items: Items });
