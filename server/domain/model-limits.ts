interface Limits {
  context_window?: number;
  max_output_tokens?: number;
}

/**
 * Limits that price lists lack or round, from the models' pages of OpenAI, Anthropic and Google. The first match
 * counts; dots of a name are dashes here.
 */
const known: readonly (readonly [pattern: RegExp, limits: Limits])[] = [
  [/gpt-5(-\d)?-chat|gpt-5-3$/, { context_window: 128_000, max_output_tokens: 16_384 }],
  [/gpt-5-pro/, { max_output_tokens: 272_000 }],
  [/gpt-[56]/, { max_output_tokens: 128_000 }],
  [/gpt-4-1(?!\d)/, { context_window: 1_047_576, max_output_tokens: 32_768 }],
  [/gpt-4o/, { max_output_tokens: 16_384 }],
  [/gpt-4-turbo|gpt-4-(0125|1106)|gpt-4-vision|gpt-3-5|gpt-35/, { max_output_tokens: 4096 }],
  [/^o1-preview/, { max_output_tokens: 32_768 }],
  [/^o1-mini/, { max_output_tokens: 65_536 }],
  [/^o[134](-|$)/, { max_output_tokens: 100_000 }],
  [/claude-(opus|sonnet)-4-[6-9]|claude-4-[6-9]-|claude-[a-z]+-5|claude-5/, { max_output_tokens: 128_000 }],
  [/claude-[a-z]+-4-5|claude-4-5/, { max_output_tokens: 64_000 }],
  [/claude-opus-4|claude-4-opus/, { max_output_tokens: 32_000 }],
  [/claude-sonnet-4|claude-4-sonnet|claude-3-7|claude-sonnet-3-7/, { max_output_tokens: 64_000 }],
  [/claude-3-5/, { max_output_tokens: 8192 }],
  [/claude-3/, { max_output_tokens: 4096 }],
  [/gemini-(2-5-pro|3(-\d)?-pro)/, { context_window: 1_048_576, max_output_tokens: 65_536 }],
  [/gemini-(2-5|3)/, { max_output_tokens: 65_536 }],
  [/gemini-(1|2-0)|gemini-(pro|flash)-1/, { max_output_tokens: 8192 }],
  [/^llama-3-(3-70b-versatile|1-8b-instant)$/, { context_window: 131_072 }],
];

/** Returns the known limits of a model by its name without the provider. */
export function knownLimits(name: string): Limits {
  const plain = name.toLowerCase().replaceAll(".", "-");
  return known.find(([pattern]) => pattern.test(plain))?.[1] ?? {};
}
