// Mastra's routes with an agent per model of the benchmark. It prints its address before it listens.
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { serve } from "@hono/node-server";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { MastraServer } from "@mastra/hono";
import { LibSQLStore } from "@mastra/libsql";
import { PinoLogger } from "@mastra/loggers";
import { Memory } from "@mastra/memory";
import { Hono } from "hono";

const { PEER_PORT, PEER_FOLDER, PEER_MODEL_URL, PEER_MODELS } = process.env;
console.log(JSON.stringify({ url: `http://127.0.0.1:${PEER_PORT}` }));

const provider = createOpenAICompatible({
  name: "bench",
  baseURL: PEER_MODEL_URL,
  apiKey: "none",
  includeUsage: true,
});
const memory = new Memory();
const agents = PEER_MODELS.split(",").map(
  (name) => new Agent({ id: name, name, instructions: "Be quick.", model: provider(name), memory }),
);
const mastra = new Mastra({
  agents: Object.fromEntries(agents.map((agent) => [agent.id, agent])),
  storage: new LibSQLStore({ id: "bench", url: `file:${join(PEER_FOLDER, "mastra.db")}` }),
  logger: new PinoLogger({ name: "bench", level: "warn" }),
});
const app = new Hono();
await new MastraServer({ app, mastra }).init();
serve({ fetch: app.fetch, port: Number(PEER_PORT), hostname: "127.0.0.1" });
