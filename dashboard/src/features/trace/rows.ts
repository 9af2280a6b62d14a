import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { Recovery } from "../../../../server/domain/trace.ts";
import type { LoadedTrace } from "../../entities/run/trace-api.ts";
import { joinFacts } from "../../lib/format.ts";
import { answeringAgents } from "./answering-agents.ts";
import type { Mark, Row, ShownRow } from "./row.ts";
import { isFlagged, statusWord, stepStatusWord, stepSub, typeWord } from "./step-words.ts";
import { waitSpans } from "./waits.ts";

interface RowsInput {
  root: LoadedTrace;
  name: string;
  /** Expanded subagent runs, by run id. */
  children: ReadonlyMap<string, LoadedTrace>;
  /** Keys of expanded rows. */
  open: ReadonlySet<string>;
}

/** All visible rows, in order. */
export function rowsOf({ root, name, children, open }: RowsInput): Row[] {
  const rows: Row[] = [runRow(root, name, open.has("run"))];
  const add = (of: LoadedTrace, agent: string, prefix: string, level: number) => {
    for (const row of ownRows(of, agent, prefix, level)) {
      const child = row.step?.subagent ? children.get(row.step.subagent.run_id) : undefined;
      row.opens = Boolean(row.step?.subagent);
      row.open = row.opens && open.has(row.key);
      rows.push(row);
      if (row.open && child) add(child, row.name, `${row.key}-`, level + 1);
    }
  };
  if (open.has("run")) add(root, name, "", 2);
  return rows;
}

function runRow({ trace, steps }: LoadedTrace, name: string, open: boolean): Row {
  const begin = Math.min(Date.parse(trace.started_at), ...firstTimes(steps));
  const marks = {
    failed: "failed",
    cancelled: "cancelled",
    requires_action: "waiting",
    in_progress: "running",
  } as const;
  return {
    key: "run",
    parent: null,
    level: 1,
    kind: "run",
    type: "run",
    name,
    sub: "run",
    step: null,
    before: null,
    runId: trace.run_id,
    start: begin,
    end: trace.completed_at === null ? null : Date.parse(trace.completed_at),
    waits: [],
    mark: marks[trace.status as keyof typeof marks] ?? null,
    opens: true,
    open,
  };
}

/** Adds the position among visible siblings, for screen readers. */
export function placeRows(rows: readonly Row[]): ShownRow[] {
  const counts = new Map<string | null, number>();
  const rank = ({ parent }: Row) => {
    const position = (counts.get(parent) ?? 0) + 1;
    counts.set(parent, position);
    return position;
  };
  const positions = rows.map(rank);
  return rows.map((row, index) => ({ ...row, position: positions[index]!, siblings: counts.get(row.parent)! }));
}

/** Steps taken over by a fork started before it. */
const firstTimes = (steps: readonly TraceStep[]): number[] => (steps[0] ? [Date.parse(steps[0].started_at)] : []);

function ownRows({ trace, steps }: LoadedTrace, name: string, prefix: string, level: number): Row[] {
  const newest = Date.parse(trace.started_at) + trace.duration_ms;
  const waitContext = { recoveries: trace.recoveries, newest };
  const parent = prefix === "" ? "run" : prefix.slice(0, -1);
  const base: Base = { parent, level, runId: trace.run_id, opens: false, open: false };
  const agents = answeringAgents(steps, name);
  const rows: Row[] = steps.map((step, index) => ({
    ...base,
    key: `${prefix}${step.step_index}`,
    kind: "step",
    type: step.type,
    name: step.handoff ? `To ${step.handoff.agent_name}` : step.name,
    sub: joinFacts(agents.get(step.id), stepSub(step)),
    agent: agents.get(step.id),
    step,
    before: steps[index - 1]?.id ?? null,
    start: Date.parse(step.started_at),
    end:
      step.completed_at === null
        ? (trace.completed_at && Date.parse(trace.completed_at)) || null
        : Date.parse(step.completed_at),
    waits: waitSpans(step, waitContext),
    mark: markOf(step),
  }));
  const restarts = trace.recoveries.map((recovery) => restartRow(recovery, base, prefix));
  return restarts.reduce(insertRestart, rows);
}

type Base = Pick<Row, "parent" | "level" | "runId" | "opens" | "open">;

function restartRow({ attempt, at, step_index }: Recovery, base: Base, prefix: string): Row {
  const time = Date.parse(at);
  return {
    ...base,
    key: `${prefix}r${attempt}`,
    kind: "restart",
    type: "recovery",
    name: "Server restarted",
    sub: step_index === null ? `attempt ${attempt}` : `attempt ${attempt}, at step ${step_index}`,
    step: null,
    before: null,
    start: time,
    end: time,
    waits: [],
    mark: null,
  };
}

/** Inserts a restart before the first step that started after it. */
function insertRestart(rows: Row[], restart: Row): Row[] {
  const index = rows.findIndex((row) => row.start >= restart.start);
  return rows.toSpliced(index === -1 ? rows.length : index, 0, restart);
}

function markOf(step: TraceStep): Mark {
  if (isFlagged(step)) return "flagged";
  if (step.status === "completed") return null;
  return step.status === "in_progress" ? "running" : step.status;
}

/** True if the row needs attention. */
export const isProblem = ({ kind, mark }: Row): boolean => kind === "step" && (mark === "failed" || mark === "unknown");

/** Describes a row's mark in a word; empty for success. */
export function rowMarkWord({ mark, step }: Row): string {
  if (mark === "flagged") return "Flagged";
  if (mark === "running") return "Running";
  if (mark === "waiting") return "Waiting";
  return step && mark ? stepStatusWord(step) : mark ? mark[0]!.toUpperCase() + mark.slice(1) : "";
}

/** Searchable text of each step, cached because every typed letter searches. */
const texts = new WeakMap<TraceStep, string>();

/** Returns the rows that contain all words in name, arguments, output or error. */
export function findSteps(rows: readonly Row[], searchText: string): Row[] {
  const words = searchText.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const text = `${row.name} ${row.sub} ${typeWord(row.type)}`.toLowerCase();
    const more = row.step ? textOf(row.step) : "";
    return words.every((word) => text.includes(word) || more.includes(word));
  });
}

function textOf(step: TraceStep): string {
  const known = texts.get(step);
  if (known !== undefined) return known;
  const { name, input, output, reasoning, error, tool_call_id, id, status } = step;
  const recordText = JSON.stringify([name, input, output, reasoning, error, tool_call_id, id]);
  const text = `${recordText} ${statusWord[status]}`.toLowerCase();
  texts.set(step, text);
  return text;
}

/** Row that the page opens on: the step that failed the run, the pending call, or the run itself. */
export function firstStep(rows: readonly Row[], run: Pick<Run, "status" | "error" | "required_action">): string {
  const own = rows.filter(({ kind, level }) => kind === "step" && level === 2);
  if (run.status === "failed") {
    const index = failingStep(run);
    return index === null ? "run" : (own.find(({ step }) => step?.step_index === index)?.key ?? "run");
  }
  if (run.status === "requires_action") {
    const { submit_tool_outputs, authorizations = [] } = run.required_action ?? {
      submit_tool_outputs: { tool_calls: [] },
    };
    const consents = authorizations.flatMap(({ tool_calls }) => tool_calls);
    const pendingCallIds = new Set([...submit_tool_outputs.tool_calls, ...consents].map((call) => call.tool_call_id));
    const waiting = own.find(({ step }) => step?.tool_call_id != null && pendingCallIds.has(step.tool_call_id));
    return (waiting ?? own.find(({ mark }) => mark === "waiting" || mark === "unknown"))?.key ?? "run";
  }
  return "run";
}

/** Errors of the whole run: the interrupted step does not explain them. */
const endsOfTheRun = ["budget_exceeded", "max_turns_exceeded", "run_timeout", "crash_loop"];

/** Index of the step that explains a run's failure; null if the run itself does. */
export const failingStep = ({ status, error }: Pick<Run, "status" | "error">): number | null =>
  status === "failed" && error && !endsOfTheRun.includes(error.code) ? (error.step_index ?? null) : null;

/** Keys of the rows that must be expanded to show this one: `6` and `6-2` for `6-2-1`. */
export function ancestorsOf(key: string): string[] {
  const parts = key.split("-").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("-"));
}
