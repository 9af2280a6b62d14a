import { printable } from "./print.ts";
import { cost } from "./trace-tree.ts";

/** The fields of a suite run that the command uses. */
export interface ShownSuiteRun {
  id: string;
  suite_id: string;
  status: string;
  counts: { total: number; pending: number; equal: number; diverged: number; failed: number };
  cases: ShownCase[];
}

export interface ShownCase {
  run_id: string;
  status: string;
  matched_steps: number;
  divergences_count: number;
  first_divergence: { step_index: number; kind: string; message: string } | null;
  live: ShownLive | null;
  error: { message: string } | null;
}

interface ShownLive {
  run_id: string | null;
  status: string;
  output_equal: boolean | null;
  cost_usd: number | null;
  error: { message: string } | null;
}

/** Formats the result of a case. */
export function caseLines({ run_id, status, first_divergence, ...rest }: ShownCase): string[] {
  if (status === "equal") return [`✓ ${run_id}  ${count(rest.matched_steps, "step")} equal`];
  if (!first_divergence) return [`✗ ${run_id}  ${printable(rest.error?.message ?? "Not looked at.")}`];
  const { step_index, kind, message } = first_divergence;
  const more = rest.divergences_count > 1 ? ` (and ${rest.divergences_count - 1} more)` : "";
  return [
    `✗ ${run_id}  step ${step_index}, ${kind}: ${printable(message)}${more}`,
    ...(rest.live ? [`  live: ${liveText(rest.live)}`] : []),
  ];
}

function liveText({ run_id, status, output_equal, cost_usd, error }: ShownLive): string {
  if (run_id === null) return `not gone on: ${printable(error?.message ?? status)}`;
  const otherwise = status === "completed" ? "another output" : status;
  const place = [run_id, cost(cost_usd)].filter(Boolean).join(", ");
  return `${output_equal ? "the same output" : otherwise} (${place})${error ? `: ${printable(error.message)}` : ""}`;
}

/** Formats the last line of a suite run. */
export const summaryLine = ({ id, status, counts: { total, equal, diverged, failed } }: ShownSuiteRun): string =>
  `${status}: ${equal} of ${count(total, "case")} equal, ${diverged} diverged, ${failed} failed (${id})`;

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;
