import { Runnel } from "runnel-sdk";

const runnel = new Runnel();
const { agent } = await runnel.agents.sync("streaming", { instructions: "Be brief.", model: "test/echo" });
let text = "";
for await (const event of runnel.runs.stream({ agent_id: agent.id, input: "Hello you" })) {
  if (event.event === "token") text += event.data.delta;
  else if (event.event === "run.failed") throw new Error(event.data.error.message);
  else if (event.event === "run.completed") console.log(event.data.usage.total_tokens !== 0);
}
console.log(text);
