import { Pencil, RefreshCw, Trash2 } from "lucide-react";
import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import { switchAction, useSwitchAutomation } from "../../entities/automation/switch-automation.tsx";
import { triggerApi } from "../../entities/trigger/trigger-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeBlock } from "../../ui/data/code-block.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { SecretDialog } from "../../ui/dialogs/secret-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { RotateTriggerSecret } from "./rotate-trigger-secret.tsx";
import { TriggerForm } from "./trigger-form.tsx";
import { senderNames } from "./trigger-words.tsx";

/** Open dialog of a trigger. */
export type TriggerAct =
  | { kind: "create" }
  | { kind: "reveal"; made: Trigger & { secret: string } }
  | { kind: "edit" | "rotate" | "delete"; trigger: Trigger };

/** Pauses or resumes a trigger. */
export const useSwitchTrigger = () => useSwitchAutomation(triggerApi, "trigger");

/** Menu of a trigger's actions. */
export function TriggerMenu({ trigger, onAct }: { trigger: Trigger; onAct: (act: TriggerAct) => void }) {
  const switching = useSwitchTrigger();
  const ask = (kind: "edit" | "rotate" | "delete") => () => onAct({ kind, trigger });
  return (
    <ActionsMenu
      of={trigger.name}
      acts={[
        { icon: Pencil, word: "Edit trigger", onDo: ask("edit") },
        { icon: RefreshCw, word: trigger.has_secret ? "Rotate secret" : "Set secret", onDo: ask("rotate") },
        switchAction("trigger", trigger, switching),
        { icon: Trash2, word: "Delete trigger", danger: true, onDo: ask("delete") },
      ]}
    />
  );
}

/** Dialog of the chosen action. */
export function TriggerDialogs({
  act,
  onAct,
  onDeleted,
}: {
  act: TriggerAct | null;
  onAct: (act: TriggerAct | null) => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  const close = () => onAct(null);
  const done = (word: string) => (trigger: Trigger) => {
    toast(word, trigger.name);
    if (trigger.secret) onAct({ kind: "reveal", made: { ...trigger, secret: trigger.secret } });
    else close();
  };
  if (!act) return null;
  switch (act.kind) {
    case "create":
      return <TriggerForm onClose={close} onDone={done("Trigger created")} />;
    case "edit":
      return <TriggerForm trigger={act.trigger} onClose={close} onDone={done("Trigger saved")} />;
    case "rotate":
      return <RotateTriggerSecret trigger={act.trigger} onClose={close} onRotated={done("Secret saved")} />;
    case "reveal":
      return (
        <SecretDialog
          title="Save this secret now"
          about={`The sender (${senderNames[act.made.verification]}) proves with it who it is. You will not see it again.`}
          secret={act.made.secret}
          variable="TRIGGER_SECRET"
          onStored={close}
        >
          <div className="flex min-w-0 flex-col gap-2">
            <p>Enter it at the sender, together with this address:</p>
            <CodeBlock label="Address" code={act.made.url} />
          </div>
        </SecretDialog>
      );
    case "delete":
      return (
        <DeleteDialog
          noun="trigger"
          name={act.trigger.name}
          remove={() => triggerApi.remove(at, act.trigger.id)}
          stale={[triggerApi.all(at)]}
          onClose={close}
          onDeleted={onDeleted}
        >
          Its address refuses every event from now on, and the list of events is deleted. Runs that it started continue.
        </DeleteDialog>
      );
  }
}
