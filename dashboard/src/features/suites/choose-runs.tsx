import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { lastText, wholeText } from "../../../../server/domain/run-input.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { newestRunsQuery } from "../../entities/run/run-api.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { canBePinned, runIdsIn } from "./cases.ts";

/** Chosen runs: ticked ones, and text with ids of others. */
interface RunChoice {
  marked: readonly string[];
  typed: string;
}

/** Initial state. */
export const noChoice: RunChoice = { marked: [], typed: "" };

/** Returns all chosen ids, and the error of the typed text. */
export function chosenRuns({ marked, typed }: RunChoice): { ids: string[]; fault: string | null } {
  const { ids, others } = runIdsIn(typed);
  const [first] = others;
  return {
    ids: [...new Set([...marked, ...ids])],
    fault: first ? `“${first.slice(0, 40)}” is not a run id. Run ids begin with run_.` : null,
  };
}

/** Picker of ended runs: recent ones by input, any by id. */
export function ChooseRuns({
  choice,
  pinned,
  error,
  onChange,
}: {
  choice: RunChoice;
  /** Runs that the suite already has. */
  pinned?: ReadonlySet<string>;
  /** Server error about the runs. */
  error: string | null | undefined;
  onChange: (choice: RunChoice) => void;
}) {
  const [text, setText] = useState("");
  const runs = useQuery(newestRunsQuery(useWorkspace(), { limit: 100 }));
  const candidates = runs.data?.data.filter((run) => canBePinned(run) && !pinned?.has(run.id));
  const searchText = text.trim().toLowerCase();
  const shown = candidates?.filter(({ input, output, id }) =>
    [wholeText(input), output, id].some((each) => each?.toLowerCase().includes(searchText)),
  );
  const toggle = (id: string) => {
    const others = choice.marked.filter((each) => each !== id);
    onChange({ ...choice, marked: others.length < choice.marked.length ? others : [...others, id] });
  };
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-1.5 font-medium">Runs with the expected result</legend>
      <Field
        label="Search the newest runs"
        type="search"
        value={text}
        autoComplete="off"
        placeholder="Input, output or id"
        onChange={(event) => setText(event.target.value)}
      />
      <ErrorNote title="The runs cannot be shown" error={runs.error} onRetry={() => void runs.refetch()} />
      {runs.isPending && <Skeleton className="w-2/3" />}
      {shown && shown.length > 0 && (
        <ul aria-label="Newest runs" className="max-h-60 overflow-y-auto rounded-md border border-line">
          {shown.map((run) => (
            <RunChoiceRow key={run.id} run={run} isMarked={choice.marked.includes(run.id)} onToggle={toggle} />
          ))}
        </ul>
      )}
      {shown?.length === 0 && (
        <p className="text-muted">
          {candidates!.length > 0
            ? `None of the newest ${candidates!.length} runs that can be added match this text.`
            : "No runs have ended yet."}
        </p>
      )}
      <TextArea
        label="Or any runs, by their ids"
        mono
        rows={2}
        className="min-h-13"
        value={choice.typed}
        placeholder="run_…"
        error={chosenRuns(choice).fault ?? error}
        onChange={(event) => onChange({ ...choice, typed: event.target.value })}
      />
    </fieldset>
  );
}

function RunChoiceRow({ run, isMarked, onToggle }: { run: Run; isMarked: boolean; onToggle: (id: string) => void }) {
  const agent = useAgentName(run.agent_id);
  return (
    <li className="border-b border-line-soft last:border-b-0">
      <label
        className={clsx(
          "flex min-h-11.5 cursor-pointer items-center gap-2.5 px-3 py-1",
          isMarked ? "bg-accent-soft" : "hover:bg-hover",
        )}
      >
        <input type="checkbox" checked={isMarked} onChange={() => onToggle(run.id)} />
        <span className="min-w-0 flex-1">
          <span className="cut block">
            <span className="font-medium">{agent}</span>{" "}
            <span className="text-muted">· {markdownToText(lastText(run.input))}</span>
          </span>
          <span className="cut block text-xs text-muted">
            {markdownToText(run.output ?? "") || run.error?.message || "–"}
          </span>
        </span>
        <span className="flex shrink-0 flex-col items-end gap-0.5 text-xs text-muted">
          <StatusPill status={run.status} />
          <Time at={run.created_at} />
        </span>
      </label>
    </li>
  );
}
