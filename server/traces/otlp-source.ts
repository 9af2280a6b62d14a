import { sourceOf } from "../core/origin.ts";
import type { Scope } from "../core/scope.ts";
import type { Trace, TraceStep } from "../core/trace.ts";
import type { Db } from "../db/open.ts";
import type { Journal } from "../journal/journal.ts";
import { inSlices } from "../lib/slices.ts";
import { type SpanOptions, spansOf } from "./otlp.ts";
import type { OtlpSpan } from "./otlp-json.ts";
import { promptsOf } from "./prompts.ts";
import { readTrace } from "./read-trace.ts";

export type OtlpSource = ReturnType<typeof createOtlpSource>;

// Characters of what is said in one export; what comes behind is told without its content.
const contentMax = 16_000_000;
// Deeper than agents may call each other.
const depthMax = 32;

/** Makes spans of runs. */
export function createOtlpSource({ db, journal }: { db: Db; journal: Journal }) {
  const selectParent = db.sqlite.query<{ parent_run_id: string | null }, [string, string, string]>(
    "SELECT parent_run_id FROM runs WHERE id = ? AND project_id = ? AND environment = ?",
  );

  /** The run above all others, as far as they are still there. */
  function rootOf({ project_id, environment }: Scope, runId: string): string {
    let root = runId;
    for (let depth = 0; depth < depthMax; depth++) {
      const parent = selectParent.get(root, project_id, environment)?.parent_run_id;
      if (!parent) break;
      root = parent;
    }
    return root;
  }

  /** The spans of a run alone; `rest` is called now and then. */
  async function* own(trace: Trace, options: SpanOptions, rest = inSlices()): AsyncGenerator<OtlpSpan> {
    const run = trace.state.run!;
    const agent = journal.snapshot(run, run.agent_hash);
    const source = sourceOf(run);
    const asked = new Set(trace.steps.flatMap(({ id, type }) => (type === "model_call" ? [id] : [])));
    const prompts =
      options.content() && asked.size > 0
        ? (await promptsOf(journal, run.run_id, agent, asked, contentMax, rest)).found
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
   * The same with those of the runs that its agents' calls started, as far as `child` names them. Those that were taken
   * from the record of another run are that one's, and stand in its export.
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

/** Spans as they are sent, so that their length is known; content is given up where it gets too much. */
export async function writtenSpans<Written extends { length: number }>(
  make: (options: SpanOptions) => AsyncIterable<OtlpSpan>,
  write: (span: OtlpSpan) => Written,
  content: boolean,
  rest: () => Promise<void>,
): Promise<Written[]> {
  const spans: Written[] = [];
  let room = contentMax;
  for await (const span of make({ content: () => content && room > 0 })) {
    const written = write(span);
    room -= written.length;
    spans.push(written);
    await rest();
  }
  return spans;
}
