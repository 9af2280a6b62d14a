import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { lastText } from "../../../../server/core/run-input.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { agentRunsQuery } from "../../entities/run/run-api.ts";
import { plainLine } from "../../lib/plain-line.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Time } from "../../ui/time.tsx";

interface CompareWithProps {
  run: Run;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The older of both first. */
  onCompare: (runId: string, otherId: string) => void;
}

/** Asks which run to put beside this one: a recent one of its agent, or any by its id. */
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
                {plainLine(lastText(other.input)) || "No input"}
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

/** How the two belong together, if they do. */
function relationOf(run: Run, other: Run): string {
  if (run.forked_from?.run_id === other.id || run.replay_of === other.id) return "Source of this run · ";
  if (other.forked_from?.run_id === run.id) return `Fork at step ${other.forked_from.step_index} · `;
  if (other.replay_of === run.id) return "Replay of this run · ";
  return "";
}

/** A run's id, as somebody pasted it: by itself, or within an address. */
const readRunId = (text: string): string | null => text.match(/\brun_[0-9a-z]{10,40}\b/)?.[0] ?? null;
