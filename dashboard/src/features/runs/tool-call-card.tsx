import { Link } from "@tanstack/react-router";
import { Check, CircleHelp, LoaderCircle, type LucideIcon, Square, X } from "lucide-react";
import { formatDuration } from "../../lib/format.ts";
import { JsonView } from "../../ui/json-view.tsx";
import { Pill, type Tone } from "../../ui/pill.tsx";
import { StepIcon } from "../../ui/step-icon.tsx";
import type { ToolPart } from "./fns/fold-run-events.ts";

const states: Record<ToolPart["state"], [Tone, LucideIcon, string]> = {
  running: ["info", LoaderCircle, "Running"],
  waiting: ["warn", CircleHelp, "Waiting"],
  completed: ["ok", Check, "Completed"],
  failed: ["bad", X, "Failed"],
  ended: ["plain", Square, "No output"],
};

const needs: Record<string, string> = {
  output: "Waits for output",
  approval: "Waits for approval",
  reconcile: "Outcome unknown",
};

/** One tool call: closed while all is well, open where there is something to see. */
export function ToolCallCard({ part }: { part: ToolPart }) {
  const [tone, icon, word] = states[part.state];
  const trouble = part.state === "failed" || part.state === "waiting";
  return (
    <details open={trouble} className="rounded-lg border border-line">
      <summary className="flex min-h-10 list-none items-center gap-2 rounded-lg px-3 hover:bg-hover">
        <StepIcon type={part.needs === "approval" ? "approval" : part.type === "agent" ? "subagent" : "tool_call"} />
        <span className="cut font-medium" title={part.tool}>
          {part.tool}
        </span>
        <span className="ml-auto text-xs whitespace-nowrap text-muted tabular-nums">
          {part.latencyMs == null ? "" : formatDuration(part.latencyMs)}
        </span>
        {part.state !== "completed" && (
          <Pill tone={tone} icon={icon} spin={part.state === "running"}>
            {(part.state === "waiting" && needs[part.needs ?? ""]) || word}
          </Pill>
        )}
      </summary>
      <div className="flex flex-col gap-3 border-t border-line px-3 py-2.5">
        <Value title="Arguments" value={part.args} />
        {part.subagentRunId && (
          <Link to="/runs/$runId" params={{ runId: part.subagentRunId }} className="w-fit hover:underline">
            Open the agent’s run
          </Link>
        )}
        {part.error != null && <Value title="Error" value={part.error} />}
        {part.result != null && <Value title="Output" value={part.result} />}
        <code className="text-faint wrap-anywhere">{part.id}</code>
      </div>
    </details>
  );
}

function Value({ title, value }: { title: string; value: unknown }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs text-muted">{title}</h3>
      <div className="max-h-80 overflow-auto">
        <JsonView value={value} />
      </div>
    </div>
  );
}
