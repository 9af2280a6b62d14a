import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../../domain/limits.ts";
import { JsonObject, Metadata, Subject, settingFields } from "../../http/schemas.ts";
import { open } from "../../lib/schema.ts";
import { given } from "./chat-schema.ts";

// Request bodies of OpenAI's clients. Other fields are ignored, because clients send many that change nothing.

const Text = Type.String();
const Id = Type.String({ maxLength: 200 });

const Part = open({ type: Text, text: given(Text), refusal: given(Text), image_url: given(Text), file_id: given(Id) });
export type ItemPart = Static<typeof Part>;

const Item = open({
  type: given(Text),
  id: given(Id),
  role: given(Text),
  content: given(Type.Union([Text, Type.Array(Part, { maxItems: limits.input_parts })])),
  call_id: given(Id),
  name: given(Text),
  arguments: given(Text),
  output: given(Type.Union([Text, Type.Array(Part, { maxItems: limits.input_parts })])),
});
export type InputItem = Static<typeof Item>;

const Tool = open({ type: Text, name: given(Text), description: given(Text), parameters: given(JsonObject) });

const Format = open({ type: Text, schema: given(JsonObject) });

/** Body of `POST /responses`. */
export const CreateResponse = open({
  model: Text,
  input: given(Type.Union([Text, Type.Array(Item, { maxItems: 8 * limits.input_messages })])),
  instructions: given(Text),
  previous_response_id: given(Id),
  conversation: given(Type.Union([Id, open({ id: Id })])),
  stream: given(Type.Boolean()),
  background: given(Type.Boolean()),
  tools: given(Type.Array(Tool, { maxItems: limits.tools_per_agent })),
  tool_choice: given(Type.Union([Text, open({ type: Text, name: given(Text) })])),
  parallel_tool_calls: given(Type.Boolean()),
  text: given(open({ format: given(Format) })),
  reasoning: given(open({ effort: given(Text) })),
  temperature: given(settingFields.temperature),
  top_p: given(settingFields.top_p),
  max_output_tokens: given(settingFields.max_output_tokens),
  truncation: given(Text),
  metadata: given(Metadata),
  user: given(Subject),
  safety_identifier: given(Subject),
});
export type CreateResponse = Static<typeof CreateResponse>;

/** OpenAI's own limit. */
const Items = Type.Array(Item, { maxItems: 20 });

/** Body of `POST /conversations`. */
export const CreateConversation = open({ items: given(Items), metadata: given(Metadata) });
/** Body of `POST /conversations/:id`. */
export const UpdateConversation = open({ metadata: Type.Union([Metadata, Type.Null()]) });
/** Body of `POST /conversations/:id/items`. */
export const CreateItems = open({ items: Items });
