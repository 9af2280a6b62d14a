import { AppError } from "../../domain/errors.ts";
import { isId, siblingId } from "../../domain/ids.ts";
import type { ModelRequest } from "../../domain/model-call.ts";
import { notFound, throwNotFound } from "../../domain/not-found.ts";
import type { JournalEntry, RunCreated } from "../../domain/run-event.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Trace, TraceStep } from "../../domain/trace.ts";
import { agentConditions, requireAgent, type Viewer } from "../../http/auth.ts";
import { fillPage, listPage, type Page, pageRoom } from "../../http/page.ts";
import { lastItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Db } from "../../storage/db/open.ts";
import { runs } from "../../storage/db/schema.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { createTerminalEventCache, type TerminalEventRow } from "../../storage/journal/terminal-event-cache.ts";
import { type Comparison, type ComparisonPage, compare } from "./compare.ts";
import { type ExportedAgent, exportedAgent } from "./exported-agent.ts";
import { createLastTrace } from "./last-trace.ts";
import { nestedSteps, type TracedRun } from "./nested-steps.ts";
import type { SpanOptions } from "./otlp.ts";
import { otlpJson } from "./otlp-encoding.ts";
import { type OtlpSource, writtenSpans } from "./otlp-source.ts";
import { promptsOf } from "./prompts.ts";
import { readTrace } from "./read-trace.ts";
import { traceHead, traceSummary } from "./trace-summary.ts";

type Row = Pick<typeof runs.$inferSelect, "id" | "agent_id" | keyof Scope>;

export interface TracePage {
  limit: number;
  /** A `stp_` id: steps after it. */
  starting_after: string | null;
  raw: boolean;
  /** True to include the steps of child runs, each after the call that started it. */
  subagents: boolean;
  /** True to include each model call's exact prompt. */
  prompts: boolean;
}

/** A step with the run that it belongs to. */
type Placed = TraceStep & { prompt?: ModelRequest | null };

interface Viewed {
  row: Row;
  trace: Trace;
}

export type TraceStore = ReturnType<typeof createTraceStore>;

/** Traces are folds of journals; nothing is stored for them. */
export function createTraceStore({ db, journal, otlp }: { db: Db; journal: Journal; otlp: OtlpSource }) {
  const lastTrace = createLastTrace(journal);
  const briefOf = createTerminalEventCache(journal);
  const select = db.sqlite.query<Row, [string, string, string]>(
    `SELECT id, project_id, environment, agent_id FROM runs
     WHERE id = ? AND project_id = ? AND environment = ? AND summary IS NULL`,
  );

  function find(viewer: Viewer, id: string): Row {
    const row = select.get(siblingId(id, "run"), viewer.project_id, viewer.environment) ?? throwNotFound();
    requireAgent(viewer, row.agent_id);
    return row;
  }

  async function view(viewer: Viewer, id: string, options: { raw?: boolean } = {}): Promise<Viewed> {
    const row = find(viewer, id);
    const trace = (await lastTrace(row.id, options)) ?? throwNotFound(); // It was deleted while it was read.
    return { row, trace };
  }

  async function get(viewer: Viewer, id: string, { limit, starting_after, raw, subagents, prompts }: TracePage) {
    const { row, trace } = await view(viewer, id, { raw });
    const all = subagents ? nested(viewer, { run_id: row.id, trace }, raw) : trace.steps;
    const page = await pageOf(all, starting_after, limit);
    const [steps, steps_has_more] = prompts ? await withPrompts(row, page) : page;
    const untraced = raw && starting_after === null ? await untracedFields(journal, row, trace) : {};
    return { ...traceSummary(row, trace), ...untraced, steps, steps_has_more };
  }

  function nested(viewer: Viewer, root: TracedRun, raw: boolean): AsyncGenerator<TraceStep> {
    return nestedSteps(root, async (subagent) => {
      const run_id = visible(viewer, subagent);
      if (run_id === null) return null;
      const trace = await readTrace(journal, run_id, { raw });
      return trace && { run_id, trace };
    });
  }

  /** Ends the page before the first step whose prompt would exceed its room. */
  async function withPrompts(row: Row, [steps, more]: StepPage): Promise<StepPage> {
    const found = new Map<string, ModelRequest | null>();
    const calls = steps.filter(({ type }) => type === "model_call");
    let room: number = pageRoom;
    for (const [run, own] of Map.groupBy(calls, ({ run_id = row.id }) => run_id)) {
      if (room <= 0) break;
      const agent = journal.snapshot(row, createdOf(run).agent_hash);
      const prompts = await promptsOf(journal, run, agent, new Set(own.map(({ id }) => id)), room);
      room -= prompts.length;
      for (const [id, prompt] of prompts.found) found.set(id, prompt);
    }
    const first = steps.findIndex(({ id, type }) => type === "model_call" && !found.has(id));
    const pageSteps = first === -1 ? steps : steps.slice(0, first);
    const { data, has_more } = await fillPage(pageSteps, pageSteps.length, (step) => withPrompt(step, found));
    return [data, more || first !== -1 || has_more];
  }

  const createdOf = (run: string): RunCreated => {
    const [first] = journal.read(run, 0, 1);
    if (first?.event.type !== "run.created") throw notFound();
    return first.event;
  };

  async function diff(viewer: Viewer, a: string, b: string, page: ComparisonPage): Promise<Comparison> {
    // Check access to both before reading either.
    for (const id of [a, b]) find(viewer, id);
    return compare((await view(viewer, a)).trace, (await view(viewer, b)).trace, page, createYielder());
  }

  /** Null if the child's trace is gone, or the viewer may not use its agent; the parent's steps show its output. */
  function visible(viewer: Viewer, { run_id, agent_id }: NonNullable<TraceStep["subagent"]>): string | null {
    if (viewer.agent_ids?.includes(agent_id) === false) return null;
    return select.get(run_id, viewer.project_id, viewer.environment)?.id ?? null;
  }

  async function itemOf(row: Row & TerminalEventRow, maybeYield: () => Promise<void>) {
    const brief = await briefOf(row, maybeYield);
    return brief && { ...traceHead(row, brief.state), steps_count: journal.count(row.id, stepEvents) };
  }

  /** The trace with those of its child runs, as an OTLP/JSON export. */
  async function otlpOf(viewer: Viewer, id: string, content: boolean): Promise<string> {
    const { trace } = await view(viewer, id);
    const make = (options: SpanOptions) => otlp.all(trace, (subagent) => visible(viewer, subagent), options);
    return otlpJson.request(await writtenSpans(make, otlpJson.span, content, createYielder()));
  }

  return {
    get,
    diff,
    otlp: otlpOf,
    list(viewer: Viewer, requestedPage: Page) {
      const page = {
        ...requestedPage,
        starting_after: runOf(requestedPage.starting_after),
        ending_before: runOf(requestedPage.ending_before),
      };
      const where = [{ sql: "summary IS NULL", values: [] }, ...agentConditions(viewer, "agent_id")];
      const rest = createYielder();
      // Sparse: for most old runs only a summary is left.
      return listPage(db, { table: runs, kind: "run", columns, scope: viewer, page, where, isSparse: true }, (row) =>
        itemOf(row, rest),
      );
    },
  };
}

const columns = [
  ...(["id", "project_id", "environment", "agent_id", "status", "seq", "attempt"] as const),
  ...(["created_at_ms", "worked_ms"] as const),
] as const;

// Events that begin a step.
const stepEvents = ["step.started", "guardrail.decided"] as const;

/** Converts a trace id cursor to the run id, because the rows are runs. */
const runOf = (cursor: string | null) => (cursor && isId("trace", cursor) ? siblingId(cursor, "run") : cursor);

type Steps = Iterable<TraceStep> | AsyncIterable<TraceStep>;
type StepPage = [steps: Placed[], more: boolean];

/** Up to `limit` steps after the cursor, as far as the page has room, and whether there are more. */
async function pageOf(steps: Steps, after: string | null, limit: number): Promise<StepPage> {
  const { data, has_more } = await fillPage(behind(steps, after), limit, (step) => step);
  return [data, has_more];
}

async function* behind(steps: Steps, cursor: string | null): AsyncGenerator<TraceStep> {
  let isPastCursor = cursor === null;
  for await (const step of steps)
    if (isPastCursor) yield step;
    else isPastCursor = step.id === cursor;
  if (!isPastCursor)
    throw new AppError("invalid_cursor", "The cursor is not a step of this trace.", { param: "starting_after" });
}

const withPrompt = (step: Placed, found: ReadonlyMap<string, ModelRequest | null>): Placed => {
  const prompt = found.get(step.id);
  return prompt === undefined ? step : { ...step, prompt };
};

/** Fields beside the steps that an import needs to rebuild the run. */
interface Rest {
  /** The agent as the run pinned it. */
  agent: ExportedAgent | null;
  /** Entries that belong to no step: the run's own, and requested tool calls. */
  raw: JournalEntry[];
}

const entriesPerRead = 64;

/** Collects the parts of the journal that the steps of a trace, read with `raw`, do not contain. */
async function untracedFields(journal: Journal, row: Scope & { id: string }, { steps, state }: Trace): Promise<Rest> {
  const pause = createYielder();
  const tracedSeqs = new Set(steps.flatMap(({ raw = [] }) => raw.map(({ seq }) => seq)));
  const rest: Rest = { agent: null, raw: [] };
  // Stop at the trace's last entry: later ones do not belong to it.
  for (let after = 0; after < state.seq; ) {
    const entries = journal.read(row.id, after, Math.min(entriesPerRead, state.seq - after));
    if (entries.length === 0) break; // Deleted meanwhile.
    for (const entry of entries) {
      if (!tracedSeqs.has(entry.seq)) rest.raw.push(entry);
      if (entry.event.type === "run.created") rest.agent = exportedAgent(journal.snapshot(row, entry.event.agent_hash));
    }
    after = lastItem(entries).seq;
    await pause();
  }
  return rest;
}
