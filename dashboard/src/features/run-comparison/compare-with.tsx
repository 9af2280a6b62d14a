import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { lastText } from "../../../../server/domain/run-input.ts";
import { agentRunsQuery } from "../../entities/run/run-api.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { Time } from "../../ui/data/time.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Field } from "../../ui/forms/field.tsx";

interface CompareWithProps {
  run: Run;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Called with the older run first. */
  onCompare: (runId: string, otherId: string) => void;
}

/** Dialog that picks a run to compare: a recent one of the same agent, or any by id. */
export function CompareWith({ run, open, onOpenChange, onCompare }: CompareWithProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [pasted, setPasted] = useState("");
  const [fault, setFault] = useState<string | null>(null);
  const submit = () => {
    const other = pasted.trim() ? readRunId(pasted) : chosen;
    setFault(other ? null : pasted.trim() ? "A run's id begins with run_." : "Choose a run, or paste an id.");
    if (!other) return false;
    onOpenChange(false);
    if (other < run.id) onCompare(other, run.id);
    else onCompare(run.id, other);
    return true;
  };
  return (
    <FormDialog
      open={open}
      form={{ submit }}
      onClose={() => onOpenChange(false)}
      title="Compare with another run"
      about="Shows both side by side, step by step, the older one on the left."
      act="Compare"
    >
      <RecentRuns
        run={run}
        chosen={pasted.trim() ? null : chosen}
        onChoose={(id) => {
          setChosen(id);
          setPasted("");
          setFault(null);
        }}
      />
      <Field
        label="Or any run, by its id"
        className="font-mono text-xs"
        placeholder="run_…"
        value={pasted}
        error={fault}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setPasted(event.target.value);
          setFault(null);
        }}
      />
    </FormDialog>
  );
}

function RecentRuns({ run, chosen, onChoose }: { run: Run; chosen: string | null; onChoose: (id: string) => void }) {
  const name = useId();
  const recent = useQuery(agentRunsQuery(useWorkspace(), run.agent_id));
  if (recent.error) return <ErrorNote title="Recent runs cannot be shown" error={recent.error} />;
  if (!recent.data) return <Skeleton className="w-1/2" />;
  const others = recent.data.data.filter(({ id }) => id !== run.id);
  if (others.length === 0) return <p className="text-muted">This is the only run of its agent.</p>;
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1.5 font-medium">Recent runs of the same agent</legend>
      <div className="max-h-60 overflow-y-auto rounded-md border border-line-control">
        {others.map((other) => (
          <label
            key={other.id}
            className="flex min-h-(--row) cursor-pointer items-center gap-2.5 border-b border-line-soft px-3 last:border-b-0 hover:bg-hover has-checked:bg-accent-soft has-focus-visible:shadow-[inset_0_0_0_2px_var(--focus-color)]"
          >
            <input
              type="radio"
              name={name}
              className="focus-visible:shadow-none"
              checked={chosen === other.id}
              onChange={() => onChoose(other.id)}
            />
            <span className="min-w-0 flex-1 py-1">
              <span className="cut block" title={lastText(other.input)}>
                {markdownToText(lastText(other.input)) || "No input"}
              </span>
              <span className="cut block text-xs text-muted">
                {relationOf(run, other)}
                <Time at={other.created_at} /> · <code>{other.id}</code>
              </span>
            </span>
            <StatusPill status={other.status} />
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Describes how the other run relates to this one; empty if it does not. */
function relationOf(run: Run, other: Run): string {
  if (run.forked_from?.run_id === other.id || run.replay_of === other.id) return "Source of this run · ";
  if (other.forked_from?.run_id === run.id) return `Fork at step ${other.forked_from.step_index} · `;
  if (other.replay_of === run.id) return "Replay of this run · ";
  return "";
}

/** Finds a run's id in pasted text, such as an address. */
const readRunId = (text: string): string | null => text.match(/\brun_[0-9a-z]{10,40}\b/)?.[0] ?? null;
