import { Runnel } from "runnel-sdk";

const runnel = new Runnel();
const agent = await runnel.agents.create({ name: "paging", instructions: "", model: "test/echo" });
for (const input of ["one", "two", "three"]) await runnel.runs.run(agent.id, input, { metadata: { input } });

const page = await runnel.runs.list({ agent_id: agent.id, limit: 2 });
console.log(page.data.length, page.has_more);
const outputs: string[] = [];
for await (const run of runnel.runs.list({ agent_id: agent.id, limit: 2, order: "asc" }))
  if (run.output !== null) outputs.push(run.output);
console.log(outputs.join());
const first = await runnel.runs.list({ agent_id: agent.id }).toArray({ limit: 1 });
console.log(first[0]?.metadata.input);
