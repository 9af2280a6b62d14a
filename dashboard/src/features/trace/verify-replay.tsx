import type { Replay } from "../../../../server/core/run-event.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { post, resourceUrl } from "../../lib/api.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";

type ReplayRun = Run & { replay: Replay };

interface VerifyReplayProps {
  run: Run;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onShowStep: (index: number) => void;
  onOpenRun: (runId: string) => void;
}

/** Performs a run again by its record, and says what would differ. */
export function VerifyReplay({ run, open, onOpenChange, onShowStep, onOpenRun }: VerifyReplayProps) {
  const at = useWorkspace();
  const path = `/runs/${encodeURIComponent(run.id)}/replay`;
  const form = useForm({
    first: { mode: "verify", agent: "pinned" },
    send: (body) => post<ReplayRun>(resourceUrl(at, path), body),
  });
  const { made } = form;
  return (
    <FormDialog
      open={open}
      form={{ ...form, isUnsaved: false }}
      onClose={() => onOpenChange(false)}
      title="Verify replay"
      keep="Close"
      about="Replays the run from its record and compares every decision. No model or tool is called, at no cost."
      act={made ? "Verify again" : "Verify"}
      acting="Verifying"
      failed="The run was not replayed"
      request={{ method: "POST", path: `/v1${path}`, body: form.draft }}
    >
      <ChoiceCards
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
      {made && (
        <Found
          run={made}
          onShowStep={(index) => {
            onOpenChange(false);
            onShowStep(index);
          }}
          onOpen={() => {
            onOpenChange(false);
            onOpenRun(made.id);
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
    <Note tone={count === 0 ? "ok" : "warn"} role="status">
      <b>{count === 0 ? "All steps are equal" : `${plural(count, "step")} would differ`}</b>
      <p>{formatCount(matched_steps)} equal.</p>
      {count > 0 && (
        <ul className="mt-2 flex max-h-50 flex-col gap-1 overflow-y-auto">
          {divergences.map(({ step_index, kind, message }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: what was found stays where it is.
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
    </Note>
  );
}
