import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { ToolAnswer } from "../../entities/call/answer-call.ts";
import { OpenCall } from "../../entities/call/open-call.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Note } from "../../ui/note.tsx";
import { useHeldRun } from "./playground-api.ts";

/** The calls of a run that wait for somebody, in order. The first takes the focus from the composer. */
export function OpenCalls({
  runId,
  readOnly,
  onAnswered,
}: {
  runId: string;
  readOnly: boolean;
  onAnswered: (answer: ToolAnswer) => void;
}) {
  const at = useWorkspace();
  const run = useHeldRun(runId);
  const tools = useQuery(toolApi.every(at));
  const list = useRef<HTMLDivElement>(null);
  const calls = run?.required_action?.submit_tool_outputs.tool_calls ?? [];
  const first = tools.isPending ? undefined : calls[0]?.id;
  useEffect(() => {
    const focused = document.activeElement;
    if (!first || (focused !== document.body && !focused?.closest("[data-composer], [data-call]"))) return;
    list.current?.querySelector<HTMLElement>(":scope > :first-child :is(textarea, button[type=submit])")?.focus();
  }, [first]);

  if (readOnly) return calls.length > 0 && <Note tone="ask">It waits for somebody who may answer.</Note>;
  if (tools.isPending) return null;
  return (
    <div ref={list} className="flex min-w-0 flex-col gap-3">
      {calls.map((call) => (
        <OpenCall key={`${call.id} ${call.needs}`} runId={runId} call={call} onAnswered={onAnswered} />
      ))}
    </div>
  );
}
