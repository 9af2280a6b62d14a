import type { RunEvent } from "../../entities/run/trace-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";

/** The type whose colour and icon an event has. */
export type EventIcon =
  | "run"
  | "model_call"
  | "tool_call"
  | "retrieval"
  | "guardrail"
  | "approval"
  | "subagent"
  | "recovery"
  | "compaction";

/** What stands behind an event's name in the list: the one or two facts that tell it from its neighbours. */
export function eventLine({ event, data }: RunEvent): string {
  const latency = typeof data.latency_ms === "number" ? formatDuration(data.latency_ms) : "";
  switch (event) {
    case "tool.requested":
      return join(text(data.tool), data.needs ? `needs ${data.needs}` : "");
    case "tool.completed":
      return join(text(data.tool), data.error ? "failed" : "", latency);
    case "step.started":
      return join(
        text(data.type),
        stepName(data.step_index),
        Number(data.attempt) > 1 ? `attempt ${data.attempt}` : "",
      );
    case "step.completed":
      return join(text(data.type), stepName(data.step_index), latency, tokens(data.usage));
    case "step.restarted":
      return join(stepName(data.step_index), `attempt ${data.attempt}`);
    case "run.queued":
      return `at ${data.queue_position}`;
    case "run.recovered":
      return `attempt ${data.attempt}`;
    case "run.failed":
      return text((data.error as { code?: unknown } | null)?.code);
    case "run.completed":
      return tokens(data.usage);
    default:
      return "";
  }
}

/** Events of a step look like the step; those of the run look like the run. */
export function eventIcon({ event, data }: RunEvent): EventIcon {
  if (event.startsWith("tool.")) return data.needs === "approval" ? "approval" : "tool_call";
  if (event.startsWith("step.") && isIcon(data.type)) return data.type;
  if (event.startsWith("step.")) return event === "step.restarted" ? "recovery" : "model_call";
  if (event.startsWith("guardrail.")) return "guardrail";
  if (event.startsWith("memory.")) return "retrieval";
  if (event.startsWith("context.")) return "compaction";
  if (event === "run.recovered") return "recovery";
  if (event === "run.requires_action") return "approval";
  return "run";
}

function isIcon(type: unknown): type is EventIcon {
  return [
    "model_call",
    "tool_call",
    "retrieval",
    "guardrail",
    "approval",
    "subagent",
    "recovery",
    "compaction",
  ].includes(String(type));
}

function stepName(index: unknown): string {
  return typeof index === "number" ? `step ${index}` : "";
}

function tokens(usage: unknown): string {
  const total = (usage as { total_tokens?: number | null } | null | undefined)?.total_tokens;
  return total == null ? "" : `${formatCount(total)} tokens`;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function join(...parts: string[]): string {
  return parts.filter(Boolean).join(" · ");
}
