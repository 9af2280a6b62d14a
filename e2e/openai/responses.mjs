// OpenAI's own client: responses in all their forms, and conversations.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI({ baseURL: `${process.env.RUNNEL_URL}/openai/v1`, apiKey: process.env.RUNNEL_API_KEY });
const agents = JSON.parse(process.env.AGENTS);
const tools = [{ type: "function", name: "look", strict: false, parameters: { type: "object", properties: {} } }];

assert.equal((await client.responses.create({ model: agents.echo, input: "Hello!" })).output_text, "Hello!");
const format = zodTextFormat(z.object({ place: z.string() }), "place");
const parsed = await client.responses.parse({ model: agents.json, input: "?", text: { format } });
assert.deepEqual(parsed.output_parsed, { place: "Oslo" });

const asking = await client.responses.stream({ model: agents.look, input: "Oslo?", tools }).finalResponse();
const call = asking.output.at(-1);
const result = { type: "function_call_output", call_id: call.call_id, output: "Wet." };
const more = { model: agents.look, previous_response_id: asking.id, input: [result], tools };
assert.equal((await client.responses.create(more)).output_text, "Rain.");

const background = await client.responses.create({ model: agents.slow, input: "?", background: true, stream: true });
let [seen, id, text] = [-1, "", ""];
for await (const event of background) {
  seen = event.sequence_number;
  if (event.type === "response.created") id = event.response.id;
  if (event.type === "response.output_text.delta") text += event.delta;
  if (text.length > 6) break;
}
const rest = client.responses.stream({ response_id: id, starting_after: seen });
rest.on("response.output_text.delta", ({ delta }) => {
  text += delta;
});
assert.equal((await rest.finalResponse()).output_text, text);

const items = [{ type: "message", role: "user", content: "I am Ada." }];
const conversation = await client.conversations.create({ items });
await client.responses.create({ model: agents.echo, input: "Hi!", conversation: conversation.id });
const found = [];
for await (const item of client.conversations.items.list(conversation.id, { limit: 1, order: "asc" }))
  found.push(item.role);
assert.deepEqual(found, ["user", "user", "assistant"]);
assert.equal((await client.conversations.delete(conversation.id)).deleted, true);
process.stdout.write("done\n");
