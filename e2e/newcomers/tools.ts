import { Runnel, tool } from "runnel-sdk";

interface Order {
  number: number;
  express?: boolean;
}

const lookup = tool<Order>({
  name: "lookup",
  description: "Finds an order.",
  parameters: {
    type: "object",
    properties: { number: { type: "integer" }, express: { type: "boolean" } },
    required: ["number"],
  },
  run: async ({ number, express = false }) => ({ number, express, status: "shipped" }),
});

const runnel = new Runnel();
const synced = await runnel.tools.sync([lookup]);
const { agent, outcome } = await runnel.agents.sync("tools", {
  instructions: "Help.",
  model: "test/script",
  model_settings: {
    script: [{ tool_calls: [{ name: "lookup", arguments: { number: 17 } }] }, { text: "It is shipped." }],
  },
  tools: synced.map((each) => each.tool.id),
});
const run = await runnel.runs.run(agent, "Where is it?", { tools: { lookup } });
console.log(outcome, run.tool_calls[0]?.status, run.output);
