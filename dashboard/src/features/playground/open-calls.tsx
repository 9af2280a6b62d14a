import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { exampleOutput } from "../../lib/example-output.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { type ToolAnswer, useAnswerCall } from "../../ui/answer-call.ts";
import { AnswerCard } from "../../ui/answer-card.tsx";
import { Note } from "../../ui/note.tsx";
import { toolsQuery, useHeldRun } from "./playground-api.ts";

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
  const tools = useQuery(toolsQuery(at));
  const answer = useAnswerCall(runId);
  const list = useRef<HTMLDivElement>(null);
  const calls = run?.required_action?.submit_tool_outputs.tool_calls ?? [];
  const first = tools.isPending ? undefined : calls[0]?.id;
  useEffect(() => {
    const focused = document.activeElement;
    if (!first || (focused !== document.body && !focused?.closest("[data-composer], [data-call]"))) return;
    list.current?.querySelector<HTMLElement>(":scope > :first-child :is(textarea, button[type=submit])")?.focus();
  }, [first]);

  const give = async (given: ToolAnswer) => {
    // The card is gone by then, and a callback of the mutation with it.
    const run = await answer.mutateAsync(given).catch(() => null);
    if (run) onAnswered(given);
  };

  if (readOnly) return calls.length > 0 && <Note tone="ask">It waits for somebody who may answer.</Note>;
  if (tools.isPending) return null;
  const schemaOf = (name: string) => tools.data?.find((tool) => tool.name === name)?.parameters;
  return (
    <div ref={list} className="flex min-w-0 flex-col gap-3">
      {calls.map((call) => (
        <AnswerCard
          key={call.id}
          call={call}
          busy={answer.isPending}
          error={answer.variables?.tool_call_id === call.id ? answer.error : null}
          example={exampleOutput(schemaOf(call.tool), call.arguments)}
          onAnswer={(given) => void give(given)}
        />
      ))}
    </div>
  );
}
