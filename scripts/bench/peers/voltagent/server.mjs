// VoltAgent's server with an agent per model of the benchmark. It prints its address before it listens.
import { join } from "node:path";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, Memory, VoltAgent } from "@voltagent/core";
import { LibSQLMemoryAdapter } from "@voltagent/libsql";
import { createPinoLogger } from "@voltagent/logger";
import { honoServer } from "@voltagent/server-hono";

console.warn = () => {}; // A library warns at each run of how VoltAgent calls it.

const { PEER_PORT, PEER_FOLDER, PEER_MODEL_URL, PEER_MODELS } = process.env;
console.log(JSON.stringify({ url: `http://127.0.0.1:${PEER_PORT}` }));

const file = (name) => `file:${join(PEER_FOLDER, name)}`;
const provider = createOpenAICompatible({
  name: "bench",
  baseURL: PEER_MODEL_URL,
  apiKey: "none",
  includeUsage: true,
});
const memory = new Memory({ storage: new LibSQLMemoryAdapter({ url: file("memory.db") }) });
const agents = PEER_MODELS.split(",").map(
  (name) => new Agent({ name, instructions: "Be quick.", model: provider(name), memory }),
);

new VoltAgent({
  agents: Object.fromEntries(agents.map((agent) => [agent.name, agent])),
  server: honoServer({ port: Number(PEER_PORT), hostname: "127.0.0.1" }),
  logger: createPinoLogger({ name: "bench", level: "warn" }),
});
