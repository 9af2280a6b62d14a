import type {
  SuiteCase as CaseResult,
  SuiteRunListItem as SuiteRun,
} from "../../../../server/domain/api-types/suite.ts";
import type { Divergence } from "../../../../server/domain/run-event.ts";
import type { LiveResult } from "../../entities/suite/suite-api.ts";
import { formatCount, plural } from "../../lib/format.ts";

/** Describes a suite run: `3 of 4 equal, 1 diverged`, or its progress. */
export function countWords({ status, counts }: Pick<SuiteRun, "status" | "counts">): string {
  const { total, pending, equal, diverged, failed } = counts;
  const rest = [
    diverged > 0 && `${formatCount(diverged)} diverged`,
    failed > 0 && `${formatCount(failed)} failed`,
    pending > 0 && status !== "in_progress" && `${formatCount(pending)} not run`,
  ].filter(Boolean);
  const progress = status === "in_progress" ? `${formatCount(total - pending)} of ${formatCount(total)} done` : null;
  if (progress) return [progress, ...rest].join(", ");
  return [`${formatCount(equal)} of ${formatCount(total)} equal`, ...rest].join(", ");
}

/** Describes a case's result in one line: `3 steps equal`, `Step 2, prompt: …`, or the error. */
export function caseLine(result: CaseResult | null): string {
  if (!result) return "Not run yet";
  const { status, matched_steps, divergences_count, divergences, error } = result;
  if (status === "pending") return "Waiting for earlier cases";
  if (status === "equal") return `${plural(matched_steps, "step")} equal`;
  if (error) return error.message;
  const [first] = divergences;
  const more = divergences_count > 1 ? ` And ${formatCount(divergences_count - 1)} more.` : "";
  return first ? `${placeWords(first)}: ${first.message}${more}` : "Different result";
}

/** Describes a divergence's place: `Step 2, tool call`. */
export const placeWords = ({ step_index, kind }: Divergence): string =>
  `Step ${step_index}, ${kind.replaceAll("_", " ")}`;

/** Describes a live continuation's result: `Same output`, `Different output`, or why there is none. */
export function liveWords({ status, output_equal, error }: LiveResult): string {
  if (status === "skipped") return "No fork";
  if (status === "in_progress" || status === "queued") return "Running";
  if (status !== "completed") return error?.message ?? `The fork ended as ${status}`;
  return output_equal ? "Same output" : "Different output";
}

/** Quotes a text for a shell if necessary. */
export const shellWord = (text: string): string =>
  /^[\w.-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", `'\\''`)}'`;
