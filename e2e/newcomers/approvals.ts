import { Runnel } from "runnel-sdk";

const runnel = new Runnel();
const { tool } = await runnel.tools.sync("pay", {
  type: "client",
  description: "Pays a bill.",
  parameters: { type: "object", properties: { amount: { type: "number" } } },
  approval: "always",
});
const { agent } = await runnel.agents.sync("approvals", {
  instructions: "",
  model: "test/script",
  model_settings: { script: [{ tool_calls: [{ name: "pay", arguments: { amount: 9 } }] }, { text: "Paid." }] },
  tools: [tool.id],
});
const run = await runnel.runs.run(agent, "Pay.", {
  tools: { pay: ({ amount }: { amount: number }) => ({ paid: amount }) },
  decide: (call) =>
    Number(call.arguments.amount) < 10 ? { decision: "approve" } : { decision: "reject", reason: "Too much." },
});
console.log(run.output);

let waiting = await runnel.runs.create({ agent_id: agent.id, input: "Pay." }, { wait: 30 });
const asked = waiting.required_action?.submit_tool_outputs.tool_calls ?? [];
waiting = await runnel.runs.submitToolOutputs(waiting.id, {
  tool_outputs: asked.map(({ tool_call_id }) => ({ tool_call_id, decision: "reject" as const, reason: "Not today." })),
});
console.log(asked.map(({ needs }) => needs).join());
