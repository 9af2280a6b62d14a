import type { RunUsage, StepType } from "../../../../server/core/run-event.ts";
import type { RunFrame } from "../../../../server/wire/events.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";

/** The type whose colour and icon an event has. */
type EventIcon = StepType | "run";

/** What stands behind an event's name in the list: the one or two facts that tell it from its neighbours. */
export function eventLine({ event, data }: RunFrame): string {
  switch (event) {
    case "tool.requested":
      return join(data.tool, data.needs && `needs ${data.needs}`);
    case "tool.decided":
      return join(data.decision, data.needs && `needs ${data.needs}`);
    case "tool.completed":
      return join(data.tool, data.error && "failed", formatDuration(data.latency_ms));
    case "subagent.started":
      return data.subagent_run_id;
    case "subagent.waiting":
      return join(...data.tool_calls.map(({ tool, needs }) => `${tool} needs ${needs}`));
    case "step.started":
      return join(data.type, stepName(data.step_index), data.attempt > 1 && `attempt ${data.attempt}`);
    case "step.completed":
      return join(data.type, stepName(data.step_index), formatDuration(data.latency_ms), tokensOf(data.usage));
    case "step.restarted":
      return join(stepName(data.step_index), `attempt ${data.attempt}`);
    case "guardrail.passed":
    case "guardrail.triggered":
      return join(data.guardrail.type, data.verdict);
    case "history.loaded":
      return `${data.messages} messages`;
    case "documents.attached":
      return join(...data.documents.map(({ filename }) => filename));
    case "run.queued":
      return `at ${data.queue_position}`;
    case "run.recovered":
      return `attempt ${data.attempt}`;
    case "run.failed":
      return data.error.code;
    case "run.completed":
      return tokens(data.usage.total_tokens);
    default:
      return "";
  }
}

/** Events of a step look like the step; those of the run look like the run. */
export function eventIcon({ event, data }: RunFrame): EventIcon {
  if (event === "tool.requested") return data.needs === "approval" ? "approval" : "tool_call";
  if (event === "step.started" || event === "step.completed") return data.type;
  if (event === "tool.decided") return "approval";
  if (event.startsWith("tool.")) return "tool_call";
  if (event.startsWith("subagent.")) return "subagent";
  if (event.startsWith("guardrail.")) return "guardrail";
  if (event.startsWith("memory.")) return "retrieval";
  if (event.startsWith("context.")) return "compaction";
  if (event === "run.recovered" || event === "step.restarted") return "recovery";
  if (event === "run.requires_action") return "approval";
  return "run";
}

const stepName = (index: number): string => `step ${index}`;

const tokensOf = (usage: Pick<RunUsage, "input_tokens" | "output_tokens"> | null): string =>
  usage?.input_tokens == null || usage.output_tokens == null ? "" : tokens(usage.input_tokens + usage.output_tokens);

const tokens = (total: number | null): string => (total === null ? "" : `${formatCount(total)} tokens`);

const join = (...parts: (string | false | null)[]): string => parts.filter(Boolean).join(" · ");
