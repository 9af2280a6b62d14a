import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import type { LabelShare } from "../../../../server/domain/agent-label.ts";
import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import { limits } from "../../../../server/domain/limits.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { newestVersions } from "../../entities/agent/version-choice.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { labelsOf, labelsQuery, setLabel } from "../../entities/label/label-api.ts";
import { formatPercent, holdsWords } from "../../entities/label/label-words.ts";
import { type Fields, useForm } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { serverFieldErrors } from "../../lib/field-errors.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { Select } from "../../ui/forms/select.tsx";
import {
  type LabelDraft,
  labelBodyOf,
  labelDraftOf,
  labelFaults,
  labelFieldOf,
  otherPercent,
  ruleDraftOf,
  sharesDraftOf,
} from "./label-draft.ts";

const kinds = [
  { value: "one", label: "One version", hint: "All runs get it." },
  { value: "split", label: "Two versions", hint: "A part of the runs gets each. A thread or user keeps its version." },
] as const;

/** Form that creates a label, moves it, splits it, or sets when the server rolls it back. */
export function LabelForm({
  agent,
  label = null,
  shares,
  onClose,
  onDone,
}: {
  agent: Pick<Agent, "id" | "name" | "version">;
  /** Null for one whose name is chosen here: a new one, or one that is moved. */
  label?: AgentLabel | null;
  /** Versions that the form offers first, instead of those that the label holds. */
  shares?: readonly LabelShare[];
  onClose: () => void;
  onDone?: (label: AgentLabel) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefresh({ all: () => labelsOf(at, agent.id) });
  const labels = useQuery(labelsQuery(at, agent.id)).data?.data ?? [];
  // The revision that the person has seen, so that a move by another person in between is noticed.
  const seen = useRef(label);
  const form = useForm({
    first: (): LabelDraft => ({
      ...labelDraftOf(label, agent.version),
      ...(shares && sharesDraftOf(shares, agent.version)),
    }),
    check: labelFaults,
    blame: (error, draft) => serverFieldErrors(error, draft, labelFieldOf),
    send: (draft) =>
      setLabel(at, agent.id, draft.name.trim(), labelBodyOf(draft, seen.current?.revision ?? 0)).catch(
        async (error: Error) => {
          if (isMovedMeanwhile(error)) await refresh();
          throw error;
        },
      ),
    onSent: async (set, draft) => {
      toast(seen.current ? "Label saved" : "Label created", `${draft.name.trim()} holds ${holdsWords(set)}`);
      onClose();
      await refresh();
      onDone?.(set);
    },
  });
  const { draft } = form;
  const name = draft.name.trim();
  const chooseName = (next: string) => {
    const known = labels.find((each) => each.name === next.trim()) ?? null;
    if (known?.name !== seen.current?.name) form.set({ name: next, ...ruleDraftOf(known?.rollback_on ?? null) });
    else form.set({ name: next });
    seen.current = known;
  };
  const isConflict = form.failure !== null && isMovedMeanwhile(form.failure);
  const now = labels.find((each) => each.name === name) ?? null;
  const sendAgain = () => {
    seen.current = now;
    form.submit();
  };
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title={label ? `Move ${label.name}` : "Set a label"}
      about={label ? `It holds ${holdsWords(label)} now.` : aboutOf(seen.current)}
      act={label ? "Save label" : seen.current ? "Move label" : "Create label"}
      acting="Saving"
      ready={name !== "" && !(label && !form.isChanged && !shares)}
      failed={isConflict ? undefined : "The label was not set"}
      request={{
        method: "PUT",
        path: `/v1/agents/${agent.id}/labels/${encodeURIComponent(name || "production")}`,
        body: labelBodyOf(draft, seen.current?.revision ?? 0),
      }}
    >
      {!label && (
        <Combobox
          label="Label"
          placeholder="production"
          items={labels.map((each) => ({ value: each.name, aside: <Holds label={each} /> }))}
          hint={`Lower-case letters, digits, - and _, up to ${limits.label_length} characters.`}
          value={draft.name}
          error={form.fieldErrors.name}
          onValue={chooseName}
        />
      )}
      <RadioCards label="Holds" choices={kinds} {...form.choose("holds")} />
      <SharesFields agent={agent} {...form} />
      <RuleFields {...form} />
      {isConflict && <MovedMeanwhile label={now} onSend={sendAgain} onKeep={onClose} />}
    </FormDialog>
  );
}

const aboutOf = (known: AgentLabel | null): string =>
  known
    ? `This label exists: it holds ${holdsWords(known)} now.`
    : "Runs that name the label get the version it holds.";

const Holds = ({ label }: { label: AgentLabel }) => (
  <span className="shrink-0 font-sans text-muted">{holdsWords(label)}</span>
);

/** The versions, and which part of the runs each gets. */
function SharesFields({
  agent,
  draft,
  fieldErrors,
  text,
  pick,
}: Fields<LabelDraft> & { agent: Pick<Agent, "version"> }) {
  const numbers = newestVersions(agent.version);
  const choicesWith = (chosen: string) =>
    [...new Set([...numbers, Number(chosen)])].map((version) => ({
      value: String(version),
      label: version === agent.version ? `Version ${version} (newest)` : `Version ${version}`,
    }));
  const rest = otherPercent(draft);
  if (draft.holds === "one")
    return <Select label="Version" choices={choicesWith(draft.version)} {...pick("version")} />;
  return (
    <div className="grid items-start gap-4 rail:grid-cols-[minmax(0,1fr)_calc(var(--space-10)*4)]">
      <Select label="Version" choices={choicesWith(draft.version)} {...pick("version")} />
      <Field label="Percent of the runs" inputMode="decimal" autoComplete="off" {...text("percent")} />
      <Select
        label="Other version"
        choices={choicesWith(draft.other)}
        aria-invalid={fieldErrors.other ? true : undefined}
        hint={fieldErrors.other ?? undefined}
        {...pick("other")}
      />
      <Field label="Rest of the runs" readOnly disabled value={rest === null ? "–" : formatPercent(rest)} />
    </div>
  );
}

/** When the server rolls the label back by itself. */
function RuleFields({ draft, text, set }: Fields<LabelDraft>) {
  const newer = draft.holds === "split" ? Math.max(Number(draft.version), Number(draft.other)) : Number(draft.version);
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-1.5 font-medium">Automatic rollback</legend>
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-1"
          checked={draft.rollsBack}
          onChange={({ target }) => set({ rollsBack: target.checked })}
        />
        Roll back when the runs of version {newer} get worse
      </label>
      {draft.rollsBack && (
        <div className="grid items-start gap-4 rail:grid-cols-2">
          <Field
            label="Failed runs, percent"
            inputMode="decimal"
            autoComplete="off"
            hint="From this share on. Empty: not judged."
            {...text("failurePercent")}
          />
          <Field
            label="Runs before it counts"
            inputMode="numeric"
            autoComplete="off"
            hint="That ended, or have the score."
            {...text("minRuns")}
          />
          <Field
            label="Score (optional)"
            maxLength={64}
            autoComplete="off"
            placeholder="feedback"
            hint="The name of a score of the runs."
            {...text("scoreName")}
          />
          <Field
            label="Mean of the score below"
            inputMode="decimal"
            autoComplete="off"
            placeholder="0.5"
            {...text("scoreBelow")}
          />
        </div>
      )}
    </fieldset>
  );
}

/** Another person, or the server, moved the label after this form was opened. */
function MovedMeanwhile({
  label,
  onSend,
  onKeep,
}: {
  /** The label as it is now; null if it was deleted. */
  label: AgentLabel | null;
  onSend: () => void;
  onKeep: () => void;
}) {
  return (
    <Callout tone="warn" role="alert">
      <b>{label ? "The label was moved meanwhile" : "The label was deleted meanwhile"}</b>
      {label && <p>It holds {holdsWords(label)} now.</p>}
      <div className="mt-2 flex flex-wrap gap-2">
        <Button kind="primary" size="sm" onClick={onSend}>
          Set mine all the same
        </Button>
        <Button size="sm" onClick={onKeep}>
          Keep theirs
        </Button>
      </div>
    </Callout>
  );
}

const isMovedMeanwhile = (error: Error): boolean => error instanceof ApiError && error.code === "version_conflict";
