import { countedUsage } from "../../domain/counted-usage.ts";
import type { RunUsage } from "../../domain/run-event.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import type { TraceStep } from "../../domain/trace.ts";
import { oneLine } from "./print.ts";

/** The parts of a trace that are shown. */
export interface ShownTrace {
  run_id: string;
  status: RunStatus;
  duration_ms: number | null;
  usage: RunUsage;
  steps: TraceStep[];
  steps_has_more: boolean;
}

/** Formats a trace as a tree: each turn's model call, below it its tool calls, and below an agent's call its steps. */
export function traceTree(trace: ShownTrace): string {
  const { run_id, status, duration_ms, steps } = trace;
  const usage = countedUsage(trace);
  const spent = usage ? [tokens(usage), costOf(usage)] : [];
  const head = [run_id, status, duration(duration_ms), ...spent].filter(Boolean).join("  ");
  const byCall = Map.groupBy(steps, ({ parent_id }) => parent_id);
  // Models, tools and the author of the file have chosen the texts: their lines must not look like ours.
  return [head, ...runLines(null, "", byCall)].map(oneLine).join("\n");
}

type ByCall = ReadonlyMap<string | null, TraceStep[]>;

/** Formats the steps of one run: the trace's own, or the run that a call started. */
function runLines(call: string | null, indent: string, byCall: ByCall): string[] {
  const runsByCaller = Map.groupBy(byCall.get(call) ?? [], callerIn(byCall.get(call) ?? []));
  return branches(runsByCaller.get(null) ?? [], indent, (top, below) => [
    ...runLines(top.id, below, byCall),
    ...branches(runsByCaller.get(top) ?? [], below, (step, stem) => runLines(step.id, stem, byCall)),
  ]);
}

/** Returns a function that finds the model call of a step's turn; null for a model call, or if there is none. */
function callerIn(steps: readonly TraceStep[]): (step: TraceStep) => TraceStep | null {
  const byTurn = new Map<number, TraceStep>();
  for (const step of steps)
    if (step.type === "model_call" && !byTurn.has(step.turn_index)) byTurn.set(step.turn_index, step);
  return (step) => (step.type === "model_call" ? null : (byTurn.get(step.turn_index) ?? null));
}

/** Formats entries in order, each followed by what is below it. */
const branches = (
  steps: readonly TraceStep[],
  indent: string,
  under: (step: TraceStep, indent: string) => string[],
): string[] =>
  steps.flatMap((step, index) => {
    const [branch, stem] = index === steps.length - 1 ? ["└─ ", "   "] : ["├─ ", "│  "];
    return [...entry(step, indent + branch, indent + stem), ...under(step, indent + stem)];
  });

function entry(step: TraceStep, branch: string, stem: string): string[] {
  const { step_index, type, name, status, latency_ms, usage, attempt, error, retries } = step;
  const parts = [
    `${step_index} ${type} ${name}`,
    status === "completed" ? "" : status,
    duration(latency_ms),
    usage ? tokens(usage) : "",
    usage ? costOf(usage) : "",
    attempt > 1 ? `attempt ${attempt}` : "",
  ];
  return [
    branch + parts.filter(Boolean).join("  "),
    ...retries.flatMap(({ attempt: tried, model, reason }) =>
      reason ? [`${stem}   ! attempt ${tried}${model === undefined ? "" : ` (${model})`}: ${errorText(reason)}`] : [],
    ),
    ...(error ? [`${stem}   ! ${errorText(error)}`] : []),
  ];
}

const messageMax = 1000;

function errorText({ code, message }: { code: string; message: string }): string {
  const line = `${code}: ${message.replace(/\s+/g, " ")}`;
  return line.length > messageMax ? `${line.slice(0, messageMax)}…` : line;
}

function duration(ms: number | null): string {
  if (ms === null) return "";
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(2)} s`;
}

function tokens({
  input_tokens,
  output_tokens,
}: {
  input_tokens: number | null;
  output_tokens: number | null;
}): string {
  if (input_tokens === null && output_tokens === null) return "";
  return `${input_tokens ?? "?"} → ${output_tokens ?? "?"} tokens`;
}

/** A cost at an estimated price begins with ≈. */
const costOf = ({ cost_usd, cost_estimated }: Pick<RunUsage, "cost_usd" | "cost_estimated">): string =>
  `${cost_estimated && cost_usd ? "≈" : ""}${cost(cost_usd)}`;

/** Formats a cost; empty if unknown. */
export const cost = (usd: number | null): string => (usd === null ? "" : `$${usd.toFixed(6).replace(/0{1,4}$/, "")}`);
