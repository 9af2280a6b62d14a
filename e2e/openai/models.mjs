// OpenAI's own client lists a connection's model, and calls it by the listed name.
import assert from "node:assert/strict";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: `${process.env.RUNNEL_URL}/openai/v1`, apiKey: process.env.RUNNEL_API_KEY });
const { connected: model } = JSON.parse(process.env.AGENTS);

const listed = [];
for await (const { id } of client.models.list()) listed.push(id);
assert.equal(listed.filter((id) => id === model).length, 1);
assert.equal((await client.models.retrieve(model)).id, model);
const messages = [{ role: "user", content: "Hello!" }];
const { choices } = await client.chat.completions.create({ model, messages });
assert.equal(choices[0].message.content, "a stream that");
assert.equal((await client.responses.create({ model, input: "Hello!" })).output_text, "a stream that");
process.stdout.write("done");
