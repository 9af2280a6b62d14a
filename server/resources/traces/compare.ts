import { byteLength } from "../../domain/byte-length.ts";
import { deltaOf, type Sides, type StepPair, stepPairs } from "../../domain/diff.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { RunUsage } from "../../domain/run-event.ts";
import type { Trace } from "../../domain/trace.ts";
import { pageRoom } from "../../http/page.ts";

export interface ComparisonPage {
  limit: number;
  /** Index of the pair before the page. */
  starting_after: number | null;
}

export interface Comparison {
  object: "diff";
  a: string;
  b: string;
  /** Number of pairs of each kind, over all pages. */
  changes: Record<StepPair["change"], number>;
  steps: StepPair[];
  steps_has_more: boolean;
  usage: Sides<RunUsage>;
  duration_ms: Sides<number>;
  /** Difference b − a; null if unknown. */
  delta: { cost_usd: number | null; total_tokens: number | null; duration_ms: number | null };
}

/** Compares two runs. Counts all pairs and returns one page of them; `rest` is called between pairs. */
export async function compare(
  a: Trace,
  b: Trace,
  page: ComparisonPage,
  maybeYield: () => Promise<void>,
): Promise<Comparison> {
  const { changes, steps, more } = await pairsOf(a, b, page, maybeYield);
  const usage = { a: a.state.usage, b: b.state.usage };
  const duration_ms = { a: durationOf(a), b: durationOf(b) };
  return {
    object: "diff",
    a: a.state.run.run_id,
    b: b.state.run.run_id,
    changes,
    steps,
    steps_has_more: more,
    usage,
    duration_ms,
    delta: {
      cost_usd: deltaOf({ a: usage.a.cost_usd, b: usage.b.cost_usd }),
      total_tokens: deltaOf({ a: usage.a.total_tokens, b: usage.b.total_tokens }),
      duration_ms: deltaOf(duration_ms),
    },
  };
}

async function pairsOf(a: Trace, b: Trace, { limit, starting_after }: ComparisonPage, rest: () => Promise<void>) {
  const changes = { equal: 0, changed: 0, only_a: 0, only_b: 0 };
  const steps: StepPair[] = [];
  const first = starting_after === null ? 0 : starting_after + 1;
  let [bytes, count] = [0, 0];
  for (const pair of stepPairs(a.steps, b.steps)) {
    changes[pair.change]++;
    count++;
    if (pair.index >= first && steps.length < limit && bytes <= pageRoom) {
      bytes += byteLength(JSON.stringify(pair)) + 1;
      if (bytes <= pageRoom || steps.length === 0) steps.push(pair); // A pair larger than a page is a page of its own.
    }
    await rest();
  }
  if (first > count)
    throw new AppError("invalid_cursor", noSuch("step in this comparison"), { param: "starting_after" });
  return { changes, steps, more: first + steps.length < count };
}

const durationOf = ({ state }: Trace): number =>
  (state.ended_at ?? state.updated_at) - (state.started_at ?? state.created_at);
