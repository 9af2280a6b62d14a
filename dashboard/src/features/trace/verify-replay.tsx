import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Replay } from "../../../../server/domain/run-event.ts";
import { useForm } from "../../hooks/use-form.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";

type ReplayRun = Run & { replay: Replay };

interface VerifyReplayProps {
  run: Run;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onShowStep: (index: number) => void;
  onOpenRun: (runId: string) => void;
}

/** Replays a run from its recording and reports divergences. */
export function VerifyReplay({ run, open, onOpenChange, onShowStep, onOpenRun }: VerifyReplayProps) {
  const at = useWorkspace();
  const path = `/runs/${encodeURIComponent(run.id)}/replay`;
  const form = useForm({
    first: { mode: "verify", agent: "pinned" },
    send: (body) => post<ReplayRun>(resourceUrl(at, path), body),
  });
  const { result } = form;
  return (
    <FormDialog
      open={open}
      form={{ ...form, isUnsaved: false }}
      onClose={() => onOpenChange(false)}
      title="Verify replay"
      keep="Close"
      about="Replays the run from its record and compares every decision. No model or tool is called, at no cost."
      act={result ? "Verify again" : "Verify"}
      acting="Verifying"
      failed="The run was not replayed"
      request={{ method: "POST", path: `/v1${path}`, body: form.draft }}
    >
      <RadioCards
        label="Agent version"
        choices={[
          { value: "pinned", label: "As recorded", hint: `Version ${run.agent_version}, the version of this run.` },
          {
            value: "current",
            label: "Current version",
            hint: "Shows what later changes of the agent would change.",
          },
        ]}
        {...form.choose("agent")}
      />
      {result && (
        <Found
          run={result}
          onShowStep={(index) => {
            onOpenChange(false);
            onShowStep(index);
          }}
          onOpen={() => {
            onOpenChange(false);
            onOpenRun(result.id);
          }}
        />
      )}
    </FormDialog>
  );
}

function Found({
  run: { replay },
  onShowStep,
  onOpen,
}: {
  run: ReplayRun;
  onShowStep: (index: number) => void;
  onOpen: () => void;
}) {
  const { matched_steps, divergences } = replay;
  const count = new Set(divergences.map(({ step_index }) => step_index)).size;
  return (
    <Callout tone={count === 0 ? "ok" : "warn"} role="status">
      <b>{count === 0 ? "All steps are equal" : `${plural(count, "step")} would differ`}</b>
      <p>{formatCount(matched_steps)} equal.</p>
      {count > 0 && (
        <ul className="mt-2 flex max-h-50 flex-col gap-1 overflow-y-auto">
          {divergences.map(({ step_index, kind, message }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the order of the results never changes.
            <li key={i}>
              <button
                type="button"
                className="text-left text-accent underline underline-offset-2"
                onClick={() => onShowStep(step_index)}
              >
                Step {step_index}
              </button>
              , {kind.replaceAll("_", " ")}: {message}
            </li>
          ))}
        </ul>
      )}
      <Button size="sm" className="mt-2" onClick={onOpen}>
        Open the replay
      </Button>
    </Callout>
  );
}
