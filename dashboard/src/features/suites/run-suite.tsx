import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { type Suite, startSuiteRun, suiteApi } from "../../entities/suite/suite-api.ts";
import { type Fields, fieldsOf, useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { firstLiveDraft, type LiveDraft, liveBody, liveFaults } from "./live-draft.ts";

/** Replays the recorded runs against the current agents; optionally, diverged runs continue live. */
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
  const form = useForm({
    first: firstLiveDraft,
    send: (draft) => startSuiteRun(at, suite.id, liveBody(draft)),
    onSent: async () => {
      toast("Suite run started", suite.name);
      onClose();
      onStarted(suite.id);
      await refresh();
    },
  });
  const { draft, set } = form;
  const faults = liveFaults(draft);
  const real = at.mode === "live" ? " This is live data: the calls take effect." : "";
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={`Run ${suite.name}`}
      about={`${plural(suite.cases_count, "pinned run")}, each replayed with the current version of its agent.`}
      act="Run suite"
      acting="Starting"
      ready={Object.values(faults).every((fault) => fault === null)}
      failed="The suite was not run"
      request={{ method: "POST", path: `/v1/suites/${suite.id}/runs?wait=60`, body: liveBody(draft) }}
    >
      <RadioCards
        label="When a case diverges"
        choices={[
          {
            value: "tell",
            label: "Report only",
            hint: "Each run is replayed from its record. No model or tool is called, at no cost.",
          },
          {
            value: "live",
            label: "Continue live in a fork",
            hint: `A fork calls the model, so that outputs can be compared. Tool calls without a record are made.${real}`,
          },
        ]}
        chosen={draft.continuesLive ? "live" : "tell"}
        onChoose={(choice) => set({ continuesLive: choice === "live" })}
      />
      {draft.continuesLive && <Budget {...fieldsOf(draft, faults, set)} />}
    </FormDialog>
  );
}

function Budget({ text }: Fields<LiveDraft>) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-1.5 font-medium">Limits for all forks together</legend>
      <div className="grid gap-3 rail:grid-cols-3">
        <Field label="Max cost, USD" hint="Empty: no limit." inputMode="decimal" {...text("cost")} />
        <Field label="Max tokens" hint="Empty: no limit." inputMode="numeric" {...text("tokens")} />
        <Field label="Max forks" hint="Empty: 20." inputMode="numeric" {...text("forks")} />
      </div>
    </fieldset>
  );
}
