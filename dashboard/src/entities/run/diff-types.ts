import type { Usage } from "../../lib/types.ts";

/** The same of both runs; null where nobody knows, or one has no such step. */
export interface Both<T> {
  a: T;
  b: T;
}

export type Side = keyof Both<unknown>;
export type Change = "equal" | "changed" | "only_a" | "only_b";

/** A step of one run beside the one of the other that it corresponds to, or beside none. */
export interface StepPair {
  index: number;
  a_step_index: number | null;
  b_step_index: number | null;
  type: string;
  name: string;
  change: Change;
  differences: { path: string; a: unknown; b: unknown }[];
  latency_ms: Both<number | null>;
  cost_usd: Both<number | null>;
}

/** A page of a comparison; the counts are those of all pages together. */
export interface DiffPage {
  a: string;
  b: string;
  changes: Record<Change, number>;
  steps: StepPair[];
  steps_has_more: boolean;
  usage: Both<Usage>;
  duration_ms: Both<number>;
  delta: { cost_usd: number | null; total_tokens: number | null; duration_ms: number | null };
}

/** A step of a trace, as far as it is compared. */
export interface DiffStep {
  id: string;
  step_index: number;
  type: string;
  name: string;
  status: string;
  latency_ms: number | null;
  model: string | null;
  input: unknown;
  output: unknown;
  reasoning: string | null;
  error: { code: string; message: string } | null;
  approval: { decision: string; reason: string | null; edited: boolean } | null;
  finish_reason: string | null;
  usage: { output_tokens: number | null } | null;
  replayed: boolean;
  files?: { filename: string; bytes: number }[];
}
