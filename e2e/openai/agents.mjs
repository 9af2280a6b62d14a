// OpenAI's Agents SDK over its default, responses: streams, tools, handoffs.
import assert from "node:assert/strict";
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { z } from "zod";

setTracingDisabled(true);
setDefaultOpenAIClient(
  new OpenAI({ baseURL: `${process.env.RUNNEL_URL}/openai/v1`, apiKey: process.env.RUNNEL_API_KEY }),
);
const agents = JSON.parse(process.env.AGENTS);
const parameters = z.object({ at: z.string() });
const look = tool({ name: "look", description: "Looks.", parameters, execute: async ({ at }) => `${at} is wet.` });

const looking = new Agent({ name: "looking", model: agents.look, tools: [look] });
assert.equal((await run(looking, "Oslo?")).finalOutput, "Rain.");
const streamed = await run(looking, "Oslo?", { stream: true });
let said = "";
for await (const text of streamed.toTextStream()) said += text;
await streamed.completed;
assert.deepEqual([said, streamed.finalOutput], ["I look.Rain.", "Rain."]);
const echo = new Agent({ name: "echo", model: agents.echo });
const handed = await run(Agent.create({ name: "first", model: agents.handoff, handoffs: [echo] }), "Hello!");
assert.deepEqual([handed.lastAgent.name, handed.finalOutput], ["echo", "Hello!"]);
process.stdout.write("done\n");
