import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { type Suite, startSuiteRun, suiteApi } from "../../entities/suite/suite-api.ts";
import { plural } from "../../lib/format.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { firstLiveDraft, type LiveDraft, liveBody, liveFaults } from "./live-draft.ts";

/** Holds the pinned runs against their agents as they are now; by request, what diverges goes on with its model. */
export function RunSuite({
  suite,
  onClose,
  onStarted,
}: {
  suite: Suite;
  onClose: () => void;
  onStarted: (suiteId: string) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const [draft, setDraft] = useState<LiveDraft>(firstLiveDraft);
  const faults = liveFaults(draft);
  const isWrong = Object.values(faults).some((fault) => fault !== null);
  const body = liveBody(draft);
  const start = useMutation({
    mutationFn: () => startSuiteRun(at, suite.id, body),
    onSuccess: async () => {
      toast("Suite run started", suite.name);
      onClose();
      onStarted(suite.id);
      await refresh();
    },
  });
  const write = (part: Partial<LiveDraft>) => setDraft({ ...draft, ...part });
  const real = at.mode === "live" ? " This is live data: what they do is done." : "";
  const unsaved = useChanged(draft) && !start.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title={`Run ${suite.name}`}
      about={`${plural(suite.cases_count, "pinned run")}, each held against its agent as it is now.`}
      act={start.isPending ? "Starting" : "Run suite"}
      busy={start.isPending || isWrong}
      onSubmit={() => start.mutate()}
    >
      <ChoiceCards
        label="When a case diverges"
        choices={[
          {
            value: "tell",
            label: "Tell where",
            hint: "Every run is replayed by its record. No model and no tool is called, and it costs nothing.",
          },
          {
            value: "live",
            label: "Go on live from there",
            hint: `A fork asks the model anew, so that its output can be compared. Calls that have no record are made.${real}`,
          },
        ]}
        chosen={draft.goesOn ? "live" : "tell"}
        onChoose={(choice) => write({ goesOn: choice === "live" })}
      />
      {draft.goesOn && <Budget draft={draft} faults={faults} onChange={write} />}
      {start.error && <ErrorNote title="The suite was not run" error={start.error} />}
      <FoldedCode name="run suite" request={{ method: "POST", path: `/v1/suites/${suite.id}/runs?wait=60`, body }} />
    </FormDialog>
  );
}

function Budget({
  draft,
  faults,
  onChange,
}: {
  draft: LiveDraft;
  faults: ReturnType<typeof liveFaults>;
  onChange: (part: Partial<LiveDraft>) => void;
}) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-1.5 font-medium">All forks together, at most</legend>
      <div className="grid gap-3 rail:grid-cols-3">
        <Field
          label="Cost in $"
          hint="Empty: no limit."
          inputMode="decimal"
          value={draft.cost}
          error={faults.cost}
          onChange={(event) => onChange({ cost: event.target.value })}
        />
        <Field
          label="Tokens"
          hint="Empty: no limit."
          inputMode="numeric"
          value={draft.tokens}
          error={faults.tokens}
          onChange={(event) => onChange({ tokens: event.target.value })}
        />
        <Field
          label="Forks"
          hint="Empty: 20."
          inputMode="numeric"
          value={draft.forks}
          error={faults.forks}
          onChange={(event) => onChange({ forks: event.target.value })}
        />
      </div>
    </fieldset>
  );
}
