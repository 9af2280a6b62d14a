import { patternLimits } from "./pattern/pattern.ts";

export const guardrailLimits = {
  list: 32,
  pattern_length: patternLimits.length,
  /** Of all patterns of an agent together, counted repetitions written out: the work per character is bounded by it. */
  pattern_steps: 2000,
  terms: 1000,
  term_length: 200,
  /** Of all lists of an agent together: each run makes a tree of them. */
  term_characters: 100_000,
  hosts: 1000,
  tools: 1000,
  prompt_length: 8192,
  max_length: 1_048_576,
} as const;
