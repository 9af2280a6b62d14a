import { useQuery } from "@tanstack/react-query";
import type { RunError } from "../../../../server/core/run-event.ts";
import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { requestIdQuery } from "../../entities/run/trace-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { WireLine } from "../../ui/error-note.tsx";
import { Note } from "../../ui/note.tsx";
import { WaitingCalls } from "./waiting-calls.tsx";

/** The answer first: why a run failed, or what it waits for. */
export function Outcome({ run, onSelect }: { run: Run; onSelect: (key: string) => void }) {
  if (run.status === "failed" && run.error) return <Failed runId={run.id} error={run.error} onSelect={onSelect} />;
  if (run.status === "cancelled") return <Note tone="info">{run.error?.message || "This run was cancelled."}</Note>;
  if (run.status === "queued")
    return <Note tone="info">Queued: it begins when a run in progress has ended and those before it have begun.</Note>;
  if (isOver(run.status)) return null;
  return <WaitingCalls runId={run.id} calls={run.required_action?.submit_tool_outputs.tool_calls ?? []} />;
}

function Failed({ runId, error, onSelect }: { runId: string; error: RunError; onSelect: (key: string) => void }) {
  const { data: requestId } = useQuery(requestIdQuery(useWorkspace(), runId));
  const { step_index: index, message, retryable, code } = error;
  return (
    <Note tone="bad">
      <b>{message}</b>
      <p className="text-muted">
        {index != null && (
          <>
            In{" "}
            <button type="button" className="text-accent underline" onClick={() => onSelect(String(index))}>
              step {index}
            </button>
            .{" "}
          </>
        )}
        {retryable ? "The same run may succeed at another time." : "The same run would fail again."}
      </p>
      <WireLine code={code} requestId={requestId} />
    </Note>
  );
}
