import { sourceOf } from "../../domain/run-trigger.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Trace, TraceStep } from "../../domain/trace.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { type SpanOptions, spansOf } from "./otlp.ts";
import type { OtlpSpan } from "./otlp-json.ts";
import { promptsOf } from "./prompts.ts";
import { readTrace } from "./read-trace.ts";

export type OtlpSource = ReturnType<typeof createOtlpSource>;

// Most characters of content per export; later spans have none.
const contentMax = 16_000_000;
// Deeper than agents may call each other.
const depthMax = 32;

/** Builds spans of runs. */
export function createOtlpSource({ db, journal }: { db: Db; journal: Journal }) {
  const selectParent = db.sqlite.query<{ parent_run_id: string | null }, [string, string, string]>(
    "SELECT parent_run_id FROM runs WHERE id = ? AND project_id = ? AND environment = ?",
  );

  /** The topmost ancestor of a run that still exists. */
  function rootOf({ project_id, environment }: Scope, runId: string): string {
    let root = runId;
    for (let depth = 0; depth < depthMax; depth++) {
      const parent = selectParent.get(root, project_id, environment)?.parent_run_id;
      if (!parent) break;
      root = parent;
    }
    return root;
  }

  /** Spans of a run without its children; `rest` is called now and then. */
  async function* own(trace: Trace, options: SpanOptions, maybeYield = createYielder()): AsyncGenerator<OtlpSpan> {
    const run = trace.state.run;
    const agent = journal.snapshot(run, run.agent_hash);
    const source = sourceOf(run);
    const modelCallIds = new Set(trace.steps.flatMap(({ id, type }) => (type === "model_call" ? [id] : [])));
    const prompts =
      options.content() && modelCallIds.size > 0
        ? (await promptsOf(journal, run.run_id, agent, modelCallIds, contentMax, maybeYield)).found
        : undefined;
    yield* spansOf(
      {
        trace,
        agent,
        root: rootOf(run, run.run_id),
        source: source === null ? null : { run_id: source, root: rootOf(run, source) },
      },
      { ...options, prompts },
    );
  }

  /**
   * Spans of a run and its child runs, as far as `child` names them. Runs taken from another run's record belong to
   * that run's export.
   */
  async function* all(
    trace: Trace,
    child: (subagent: NonNullable<TraceStep["subagent"]>) => string | null,
    options: SpanOptions,
    depth = 0,
  ): AsyncGenerator<OtlpSpan> {
    yield* own(trace, options);
    if (depth === depthMax) return;
    for (const { subagent, replayed } of trace.steps) {
      const id = subagent && !replayed ? child(subagent) : null;
      const nested = id && (await readTrace(journal, id));
      if (nested) yield* all(nested, child, options, depth + 1);
    }
  }

  return { own, all };
}

/** Encodes spans, so that their length is known; omits content beyond the limit. */
export async function writtenSpans<Written extends { length: number }>(
  make: (options: SpanOptions) => AsyncIterable<OtlpSpan>,
  write: (span: OtlpSpan) => Written,
  content: boolean,
  rest: () => Promise<void>,
): Promise<Written[]> {
  const spans: Written[] = [];
  let room = contentMax;
  for await (const span of make({ content: () => content && room > 0 })) {
    const encodedSpan = write(span);
    room -= encodedSpan.length;
    spans.push(encodedSpan);
    await rest();
  }
  return spans;
}
