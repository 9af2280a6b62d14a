import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Undo2, X } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import type { Approval, AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { lastText } from "../../../../server/domain/run-input.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { runQuery } from "../../entities/run/run-api.ts";
import { OpenCall } from "../../entities/tool-call/open-call.tsx";
import { ApiError } from "../../lib/api.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Kbd } from "../../ui/data/kbd.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Button } from "../../ui/forms/button.tsx";

/** Error codes of an answer that came too late: another person answered the call, or its run ended. */
const lateErrorCodes = [
  "tool_call_already_resolved",
  "run_not_awaiting_action",
  "run_already_terminal",
  "tool_call_not_found",
];

/** One waiting call: its run, its question, and the buttons that answer it. */
export function ApprovalEntry({
  call: listedCall,
  run: listedRun,
  isGone,
  isHeld,
  onRelease,
  onTakeOut,
}: {
  call: Approval;
  run: Run | undefined;
  /** True if the call was answered elsewhere while it was shown here. */
  isGone: boolean;
  /** True while an approval by keyboard can still be undone. */
  isHeld: boolean;
  onRelease: () => void;
  onTakeOut: () => void;
}) {
  const at = useWorkspace();
  // A list truncates a long required action, so fetch the run itself.
  const completeRun = listedRun?.truncated?.includes("required_action") ? undefined : listedRun;
  const single = useQuery({ ...runQuery(at, listedCall.run_id), enabled: !completeRun });
  const run = completeRun ?? single.data;
  const call = refreshArguments(listedCall, run);
  const [refusal, setRefusal] = useState<Error | null>(null);
  const entry = useRef<HTMLLIElement>(null);
  const tooLate = refusal instanceof ApiError && lateErrorCodes.includes(refusal.code);

  return (
    <li ref={entry} data-entry={call.id} className="flex min-w-0 flex-col gap-2">
      <Origin call={call} run={run} />
      {isGone || tooLate ? (
        <Answered call={call} onTakeOut={onTakeOut} refused={tooLate} />
      ) : (
        <>
          {isHeld && <PendingApproval call={call} entry={entry} onRelease={onRelease} />}
          <OpenCall key={call.needs} runId={call.run_id} call={call} onAnswered={onTakeOut} onRefused={setRefusal} />
        </>
      )}
    </li>
  );
}

const undo_ms = 5000;

/** An approval that is sent after `undo_ms` unless it is undone. Leaving the page cancels it. */
function PendingApproval({
  call,
  entry,
  onRelease,
}: {
  call: Approval;
  entry: RefObject<HTMLElement | null>;
  onRelease: () => void;
}) {
  const send = useRef(() => {});
  send.current = () => {
    entry.current?.querySelector<HTMLElement>("[data-act=approve]")?.click();
    onRelease();
  };
  useEffect(() => {
    const timer = setTimeout(() => send.current(), undo_ms);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2 rounded-md border border-line bg-subtle px-3 py-1.5">
      <p role="status" className="min-w-0 flex-1 wrap-anywhere">
        Approving {call.name} in 5 seconds.
      </p>
      <Button size="sm" onClick={onRelease}>
        <Undo2 aria-hidden className="size-3.5" strokeWidth={1.5} />
        Undo <Kbd>u</Kbd>
      </Button>
    </div>
  );
}

/** Returns the call with its run's current arguments: a person may have approved it with changed ones. */
function refreshArguments(call: Approval, run: Run | undefined): Approval {
  const own = run?.required_action?.submit_tool_outputs.tool_calls.find(({ tool_call_id: id }) => id === call.id);
  return own?.needs === call.needs ? { ...call, arguments: own.arguments } : call;
}

function Origin({ call, run }: { call: Approval; run: Run | undefined }) {
  const agent = useAgentName(run?.agent_id ?? "");
  return (
    <div className="flex min-w-0 flex-wrap items-baseline gap-x-3 gap-y-0.5">
      <Link
        to="/runs/$runId"
        params={{ runId: call.run_id }}
        data-row
        title={run && lastText(run.input).slice(0, 400)}
        className="cut min-w-0 flex-1 rounded-sm hover:underline"
      >
        <span className="font-medium">{agent || call.run_id}</span>
        {run && <span className="text-muted"> · {markdownToText(lastText(run.input))}</span>}
      </Link>
      <span className="shrink-0 text-xs text-muted">
        Requested <Time at={call.created_at} />
      </span>
    </div>
  );
}

function Answered({ call, refused, onTakeOut }: { call: Approval; refused: boolean; onTakeOut: () => void }) {
  return (
    <div className="flex min-w-0 items-start gap-2">
      <div className="min-w-0 flex-1">
        {refused ? (
          <Callout tone="info" role="status">
            <b>Already resolved</b>
            <p>{call.name} was answered by someone else, or its run has ended. Your response was not used.</p>
          </Callout>
        ) : (
          <p
            role="status"
            className="flex min-h-(--control) items-center gap-2 rounded-md border border-line px-3 text-muted"
          >
            <Check aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
            <span className="min-w-0 wrap-anywhere">{call.name} was answered elsewhere.</span>
          </p>
        )}
      </div>
      <Button
        kind="ghost"
        size="icon"
        aria-label="Remove from the list"
        title="Remove from the list"
        onClick={onTakeOut}
      >
        <X aria-hidden className="size-4" strokeWidth={1.5} />
      </Button>
    </div>
  );
}
