import type { Recipe } from "./recipe.ts";

export const agentField: Recipe = {
  title: "Add a field to an agent",
  changes: {
    "server/resources/agents/schema.ts": [
      [
        "  doors: field({\n",
        `  audience: field({
    request: t.about("The people that the agent talks to; null: anyone.", t.orNull(Type.String({ maxLength: 200 }))),
    response: t.orNull(t.text),
    initial: null as string | null,
    pin: (audience) => (audience === null ? {} : { audience }),
  }),
  doors: field({
`,
      ],
    ],
    "server/domain/agent-snapshot.ts": [
      ["  max_turns: number;\n  output_schema", "  max_turns: number;\n  audience?: string;\n  output_schema"],
    ],
    "server/resources/traces/import-agent.ts": [
      ["  guardrails: optional(\n", "  audience: optional(Short),\n  guardrails: optional(\n"],
    ],
    "dashboard/src/entities/agent/agent-fields.ts": [
      ["  output_schema: string;\n", "  audience: string;\n  output_schema: string;\n"],
      [
        "  input_schema: {\n",
        `  audience: {
    word: "Audience",
    typed: (it) => ({ audience: text(it?.audience) }),
    read: ({ audience }) => (audience.trim() === "" ? null : audience),
  },
  input_schema: {
`,
      ],
    ],
    "dashboard/src/features/agents/agents.test.ts": [
      ["  output_schema: null,\n  guardrails: [],", "  audience: null,\n  output_schema: null,\n  guardrails: [],"],
    ],
    "dashboard/src/features/playground/draft.test.ts": [
      ["  output_schema: null,\n  guardrails: [],", "  audience: null,\n  output_schema: null,\n  guardrails: [],"],
    ],
  },
};
