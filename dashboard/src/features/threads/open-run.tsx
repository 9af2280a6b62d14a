import { useQuery } from "@tanstack/react-query";
import { wholeText } from "../../../../server/core/run-input.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { OpenCall } from "../../entities/call/open-call.tsx";
import { openRunQuery } from "../../entities/thread/thread-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { Note } from "../../ui/note.tsx";
import { RunLine } from "./run-line.tsx";
import { Asked } from "./run-part.tsx";
import { useRunText } from "./use-run-text.ts";

/** A run of the thread that is not over: what it was asked, what it says so far, and what it waits for. */
export function OpenRun({ run: listed, may }: { run: Run; may: boolean }) {
  const whole = useQuery({ ...openRunQuery(useWorkspace(), listed), enabled: listed.truncated !== undefined });
  const run = whole.data ?? listed;
  const view = useRunText(run);
  const texts = view.parts.filter((part) => part.kind === "text" && part.state !== "void" && part.output !== "");
  const calls = run.status === "requires_action" ? (run.required_action?.submit_tool_outputs.tool_calls ?? []) : [];
  const isCut = run.truncated?.includes("required_action");
  return (
    <article className="flex min-w-0 flex-col gap-3">
      <RunLine runId={run.id} run={run} at={run.created_at} />
      <Asked text={wholeText(run.input)} />
      {texts.map(
        (part) =>
          part.kind === "text" && <Markdown key={part.key} text={part.output} growing={part.state === "writing"} />,
      )}
      {run.status === "queued" && <p className="text-muted">It begins when the runs before it are over.</p>}
      {calls.map((call) =>
        may && !isCut ? (
          <OpenCall key={`${call.id} ${call.needs}`} runId={run.id} call={call} />
        ) : (
          <Note key={call.id} tone="ask">
            {call.tool} waits for {may ? "an answer" : "somebody who may answer"}.
          </Note>
        ),
      )}
    </article>
  );
}
