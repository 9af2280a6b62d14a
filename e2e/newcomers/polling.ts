import { Runnel } from "runnel-sdk";

const runnel = new Runnel();
const { agent } = await runnel.agents.sync("polling", { instructions: "Be brief.", model: "test/echo" });
let run = await runnel.runs.create({ agent_id: agent.id, input: "Hello" });
while (run.status === "queued" || run.status === "in_progress") {
  await new Promise((resolve) => setTimeout(resolve, 50));
  run = await runnel.runs.retrieve(run.id);
}
if (run.error !== null) throw new Error(run.error.message);
const output: string | null = run.output;
const calls: number = run.tool_calls.length;
console.log(run.status, output, calls);
