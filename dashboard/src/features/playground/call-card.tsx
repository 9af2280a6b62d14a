import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Check, ChevronRight, CircleHelp, LoaderCircle, type LucideIcon, Square, X } from "lucide-react";
import type { ToolPart } from "../../../../server/domain/api-types/run-view.ts";
import { ShownMedia } from "../../entities/file/shown-media.tsx";
import { toolFiles } from "../../entities/file/tool-files.ts";
import { CallProgress } from "../../entities/tool-call/call-progress.tsx";
import { formatDuration } from "../../lib/format.ts";
import { isJsonObject } from "../../lib/json-text.ts";
import { JsonView } from "../../ui/data/json-view.tsx";
import { Pill, type Tone } from "../../ui/data/pill.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";

const states: Record<ToolPart["state"], [Tone, LucideIcon, string]> = {
  running: ["info", LoaderCircle, "Running"],
  waiting: ["warn", CircleHelp, "Waiting for you"],
  completed: ["ok", Check, "Completed"],
  failed: ["bad", X, "Failed"],
  ended: ["plain", Square, "No output"],
};

/** Calls that ended without output but not in an error. */
const finalStates: Record<string, [Tone, LucideIcon, string]> = {
  rejected: ["plain", X, "Rejected"],
  cancelled: ["plain", Square, "Stopped"],
};

/** Step types of tool types that are no plain tools. */
const stepTypes: Record<string, string | undefined> = { agent: "subagent", handoff: "handoff" };

/** A tool call with arguments and output, collapsed unless it failed; below it the files that it left. */
export function CallCard({ part, narrow }: { part: ToolPart; narrow: boolean }) {
  const [tone, icon, word] = finalStates[codeOf(part)] ?? states[part.state];
  const type = part.needs === "approval" ? "approval" : (stepTypes[part.type] ?? "tool_call");
  const files = toolFiles(part.result);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <details open={word === "Failed"} className="group/call min-w-0 rounded-lg border border-line">
        <summary className="list-none rounded-lg pr-3 pl-2 hover:bg-hover">
          <span className="flex min-h-9.5 items-center gap-2">
            <ChevronRight
              aria-hidden
              className="size-3.5 shrink-0 text-faint transition-transform group-open/call:rotate-90"
              strokeWidth={1.5}
            />
            <StepIcon type={type} />
            <span className="cut font-medium" title={part.tool}>
              {part.tool}
            </span>
            <Pill tone={tone} icon={icon} spin={part.state === "running"}>
              {word}
            </Pill>
            <span className="ml-auto text-xs whitespace-nowrap text-muted tabular-nums">
              {part.latencyMs == null ? "" : formatDuration(part.latencyMs)}
            </span>
          </span>
          {part.state === "running" && part.progress && (
            <span className="flex pb-2 pl-5.5">
              <CallProgress progress={part.progress} />
            </span>
          )}
        </summary>
        <div className={clsx("grid border-t border-line", !narrow && "rail:grid-cols-2")}>
          <Side title="Arguments" value={part.args} />
          <div className={clsx("min-w-0 border-line", narrow ? "border-t" : "max-rail:border-t rail:border-l")}>
            {part.error != null ? (
              <Side title="Error" value={part.error} />
            ) : (
              <Side title="Output" value={part.result} isMissing={part.state !== "completed"} />
            )}
            {part.subagentRunId && (
              <Link
                to="/runs/$runId"
                params={{ runId: part.subagentRunId }}
                className="block px-3 pb-2.5 text-accent hover:underline"
              >
                Open the agent's run
              </Link>
            )}
          </div>
        </div>
      </details>
      <ShownMedia {...files} />
    </div>
  );
}

const codeOf = ({ error }: ToolPart): string => (isJsonObject(error) ? String(error.code) : "");

function Side({ title, value, isMissing = false }: { title: string; value: unknown; isMissing?: boolean }) {
  return (
    <div className="min-w-0 px-3 pt-2 pb-2.5">
      <p className="text-2xs font-medium text-muted">{title}</p>
      {isMissing ? (
        <p className="text-muted">None so far</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
        <div tabIndex={0} className="max-h-80 overflow-auto">
          <JsonView value={value} />
        </div>
      )}
    </div>
  );
}
