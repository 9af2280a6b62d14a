import { useQuery } from "@tanstack/react-query";
import { Pencil, Trash2, Undo2 } from "lucide-react";
import type { LabelShare } from "../../../../server/domain/agent-label.ts";
import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { deleteLabel, labelPastQuery, labelsOf, rollBackLabel } from "../../entities/label/label-api.ts";
import { holdsWords, labelReference } from "../../entities/label/label-words.ts";
import { ApiError } from "../../lib/api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { LabelForm } from "./label-form.tsx";

/** Open dialog of an agent's labels. `shares` are the versions that the form offers first. */
export type LabelAct =
  | { kind: "create"; shares?: LabelShare[] }
  | { kind: "move"; label: AgentLabel; shares?: LabelShare[] }
  | { kind: "rollback" | "delete"; label: AgentLabel };

/** Menu of a label's actions. */
export function LabelMenu({ label, onAct }: { label: AgentLabel; onAct: (act: LabelAct) => void }) {
  return (
    <ActionsMenu
      of={label.name}
      acts={[
        { icon: Pencil, word: "Move or split label", onDo: () => onAct({ kind: "move", label }) },
        label.revision > 1 && { icon: Undo2, word: "Roll back label", onDo: () => onAct({ kind: "rollback", label }) },
        { icon: Trash2, word: "Delete label", danger: true, onDo: () => onAct({ kind: "delete", label }) },
      ]}
    />
  );
}

/** Dialog of the chosen action. */
export function LabelDialogs({
  agent,
  act,
  onAct,
  onSet,
  onDeleted,
}: {
  agent: Pick<Agent, "id" | "name" | "version">;
  act: LabelAct | null;
  onAct: (act: LabelAct | null) => void;
  onSet?: (label: AgentLabel) => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  const close = () => onAct(null);
  if (!act) return null;
  switch (act.kind) {
    case "create":
      return <LabelForm agent={agent} shares={act.shares} onClose={close} onDone={onSet} />;
    case "move":
      return <LabelForm agent={agent} label={act.label} shares={act.shares} onClose={close} onDone={onSet} />;
    case "rollback":
      return <RollBackLabel label={act.label} onClose={close} />;
    case "delete":
      return (
        <DeleteDialog
          noun="label"
          name={act.label.name}
          typed={at.mode === "live"}
          remove={() => deleteLabel(at, act.label)}
          stale={[labelsOf(at, agent.id)]}
          onClose={close}
          onDeleted={onDeleted}
        >
          Requests that name <b>{labelReference(agent, act.label.name)}</b> are refused from now on, and so are
          schedules, agent tools and chat pages that use it. Its history is deleted. Runs in progress continue.
        </DeleteDialog>
      );
  }
}

/** Sets a label back to what it held before. Its rule for automatic rollback is removed with it. */
function RollBackLabel({ label, onClose }: { label: AgentLabel; onClose: () => void }) {
  const at = useWorkspace();
  const past = useQuery(labelPastQuery(at, label));
  return (
    <ActionDialog
      title={`Roll back ${label.name}`}
      act="Roll back"
      acting="Rolling back"
      kind="primary"
      busy={!past.data}
      refused="The label was not rolled back"
      run={() => rollBackLabel(at, label)}
      stale={[labelsOf(at, label.agent_id)]}
      explain={(error) =>
        error instanceof ApiError && error.code === "version_conflict" ? (
          <ErrorNote
            title="The label was moved meanwhile"
            error={new Error("Look at what it holds now, and roll it back again if you still want to.")}
          />
        ) : null
      }
      onClose={onClose}
      onDone={(rolled) => toast("Label rolled back", `${rolled.name} holds ${holdsWords(rolled)}`)}
    >
      <p>It holds {holdsWords(label)} now.</p>
      {past.data && (
        <p>
          From the next run on, it holds <b>{holdsWords(past.data)}</b> again.
          {label.rollback_on && " Its rule for automatic rollback is removed."}
        </p>
      )}
      {past.data === null && <p>It has held nothing else, so there is nothing to roll it back to.</p>}
      <ErrorNote title="Its history cannot be shown" error={past.error} onRetry={() => void past.refetch()} />
    </ActionDialog>
  );
}
