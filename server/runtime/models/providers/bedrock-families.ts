import type { ModelSettings } from "../model.ts";

/** Differences between the models behind Bedrock's one API. */
export interface Family {
  name: string;
  matches: RegExp;
  /** Setting of the reasoning effort: Anthropic's thinking, Nova's, or OpenAI's in its two forms. */
  reasoning: "thinking" | "nova" | "effort" | "nested_effort" | null;
  /** Where cache points may stand beside the system prompt and users' turns; null: nowhere. */
  cache: { tools: boolean; results: boolean } | null;
  /** True if a tool's result may say that it is an error. */
  takesStatus: boolean;
  /** Settings that these models refuse. */
  refuses: readonly (keyof ModelSettings)[];
}

const plain = { reasoning: null, cache: null, takesStatus: false, refuses: [] } as const;

// From docs.aws.amazon.com/bedrock: prompt-caching, inference-reasoning, model parameters. The first match counts.
const families: readonly Family[] = [
  {
    name: "anthropic_early",
    matches: /claude-(v2|instant|3-(haiku|sonnet|opus)|3-5-sonnet)/,
    ...plain,
    takesStatus: true,
  },
  {
    name: "anthropic",
    matches: /anthropic\.|claude-/,
    reasoning: "thinking",
    cache: { tools: true, results: true },
    takesStatus: true,
    refuses: [],
  },
  {
    name: "nova_2",
    matches: /amazon\.nova-2-lite/,
    reasoning: "nova",
    cache: { tools: false, results: false },
    takesStatus: true,
    refuses: [],
  },
  {
    name: "nova",
    matches: /amazon\.nova-/,
    ...plain,
    cache: { tools: false, results: false },
    takesStatus: true,
  },
  { name: "gpt_oss", matches: /openai\.gpt-oss/, ...plain, reasoning: "effort", refuses: ["stop"] },
  {
    name: "openai",
    matches: /openai\./,
    ...plain,
    reasoning: "nested_effort",
    refuses: ["temperature", "top_p", "stop"],
  },
  { name: "mistral", matches: /mistral\./, ...plain },
];

/** Returns the family of a model id, an inference profile, or its ARN. */
export const familyOf = (modelName: string): Family =>
  families.find(({ matches }) => matches.test(modelName)) ?? { name: "other", matches: /./, ...plain };

/** True for all of Anthropic's models. */
export const isAnthropic = ({ name }: Family): boolean => name.startsWith("anthropic");
