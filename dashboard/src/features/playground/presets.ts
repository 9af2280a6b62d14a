/** Presets for a new agent. */
export const presets = ["model", "tool", "echo"] as const;
export type Preset = (typeof presets)[number];

/** A client tool, answered by the reader, for agents that are created to be tried. */
export const weatherTool = {
  name: "get_weather",
  type: "client",
  description: "Returns the weather of a city. Your own code answers the call.",
  parameters: {
    type: "object",
    properties: { city: { type: "string", description: "Name of the city" } },
    required: ["city"],
  },
};

/** Body of `POST /v1/agents` for a preset; `model` uses the written fields. */
export function presetAgent(
  preset: Preset,
  written: { name: string; instructions: string; model: string },
  toolId: string | null,
): Record<string, unknown> {
  if (preset === "model") return written;
  const { name, instructions } = written;
  if (preset === "echo") return { name, instructions, model: "test/echo" };
  return { name, instructions, model: "test/script", tools: toolId ? [toolId] : [], model_settings: { script } };
}

const script = [
  {
    reasoning: "The weather is not something that I know. There is a tool for it.",
    text: "I am asking your code for the weather in Oslo.",
    tool_calls: [{ name: weatherTool.name, arguments: { city: "Oslo" } }],
    delta_ms: 25,
  },
  {
    text: "Thank you. **Your code has answered**, and I have read it:\n\n- the run waited for you, and cost nothing meanwhile\n- its trace holds every step, to be replayed and forked",
    delta_ms: 25,
  },
];
