import { patternLimits } from "./pattern/pattern.ts";

export const guardrailLimits = {
  list: 32,
  pattern_length: patternLimits.length,
  /** All patterns of an agent together, with counted repetitions expanded: limits the work per character. */
  pattern_steps: 2000,
  terms: 1000,
  term_length: 200,
  /** All term lists of an agent together: each run builds a tree of them. */
  term_characters: 100_000,
  hosts: 1000,
  tools: 1000,
  prompt_length: 8192,
  max_length: 1_048_576,
} as const;
