/**
 * Measures deferred tools: `bun scripts/bench/many-tools.ts`, on a server in this process. A scripted model does the same
 * tasks with all of 60 tools and with deferred ones; a stub of a provider counts the bytes of definitions. It reports and
 * tests nothing; README.md explains the figures.
 */
import { startManyTools, toolModel, toolTasks } from "../../server/testing/many-tools.ts";
import { startChatServer } from "../../server/testing/model-server.ts";
import { testApp } from "../../server/testing/test-app.ts";

const office = startManyTools();
const sizes: number[] = [];
const answer = toolModel("office");
await using model = startChatServer((body) => {
  sizes.push(Buffer.byteLength(JSON.stringify(body.tools ?? [])));
  return answer(body);
});
await using server = testApp({ environment: model.environment });
const client = await server.client();
const tool = (await client.post("/v1/tools", { name: "office", type: "mcp", server_url: office.url })).body;

const figures: Record<string, Record<string, number>> = {};
for (const tool_loading of ["all", "deferred"]) {
  const agent = {
    name: "Desk",
    instructions: "Help.",
    model: "openai_compatible/stub/m",
    tools: [tool.id],
    tool_loading,
  };
  const agent_id = (await client.post("/v1/agents", agent)).body.id;
  sizes.length = 0;
  let done = 0;
  for (const task of toolTasks) {
    const before = office.calls.length;
    const run = (await client.post("/v1/runs?wait=60", { agent_id, input: task.input })).body;
    const calls = office.calls.slice(before);
    if (run.output === "It is done." && calls.length === 1 && calls[0]?.name === task.tool) done++;
  }
  figures[tool_loading] = {
    "first request, bytes": sizes[0] ?? 0,
    "all requests of a task, bytes": Math.round(sizes.reduce((sum, size) => sum + size, 0) / toolTasks.length),
    "tasks done": done,
    "model calls per task": sizes.length / toolTasks.length,
  };
}
console.table(figures);
await office.stop();
