// The AI SDK with its own provider for OpenAI, which uses responses: steps, streams, objects, stored and unstored.
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

globalThis.AI_SDK_LOG_WARNINGS = false;
const runnel = createOpenAI({ baseURL: `${process.env.RUNNEL_URL}/openai/v1`, apiKey: process.env.RUNNEL_API_KEY });
const agents = JSON.parse(process.env.AGENTS);
const inputSchema = z.object({ at: z.string() });
const look = tool({ description: "Looks.", inputSchema, execute: async ({ at }) => `${at} is wet.` });
const asked = { model: runnel(agents.look), prompt: "Oslo?", tools: { look }, stopWhen: stepCountIs(5) };

for (const store of [true, false]) {
  const answer = await generateText({ ...asked, providerOptions: { openai: { store } } });
  assert.deepEqual([answer.text, answer.steps.length], ["Rain.", 2]);
}
const streamed = streamText(asked);
let said = "";
for await (const text of streamed.textStream) said += text;
assert.equal(said, "I look.Rain.");
const { messages } = await streamed.response;
const history = [{ role: "user", content: "Oslo?" }, ...messages, { role: "user", content: "Thanks." }];
assert.equal((await generateText({ model: runnel(agents.echo), messages: history })).text, "Thanks.");
const schema = z.object({ place: z.string() });
const typed = await generateText({ model: runnel(agents.json), prompt: "?", output: Output.object({ schema }) });
assert.deepEqual(typed.output, { place: "Oslo" });
process.stdout.write("done\n");
