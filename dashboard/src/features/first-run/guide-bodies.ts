/** The model that needs no provider: it plays a script. */
export const scriptModel = "test/script";

/** A tool that is the reader's own code: the run waits for what it answers. */
export const guideTool = {
  name: "lookup_order",
  type: "client",
  description: "Looks up an order by its number.",
  parameters: {
    type: "object",
    properties: { order_id: { type: "string", description: "Number of the order" } },
    required: ["order_id"],
  },
};

/** What the reader's code would answer. */
export const guideOutput = { status: "shipped", from: "Frankfurt", arrives: "Tuesday" };

export const guideInput = "Where is order 4711?";

const script = [
  { tool_calls: [{ name: guideTool.name, arguments: { order_id: "4711" } }], delta_ms: 20 },
  {
    text: "Order 4711 left Frankfurt this morning and should reach you on Tuesday. I looked it up with your code.",
    delta_ms: 28,
  },
];

/** Body of the `POST /v1/agents` that makes the guide's agent. */
export function agentBody(
  { name, model, instructions }: { name: string; model: string; instructions: string },
  toolId: string,
): Record<string, unknown> {
  return { name, instructions, model, tools: [toolId], ...(model === scriptModel && { model_settings: { script } }) };
}
