import type { ComponentProps, ReactNode } from "react";
import { limits } from "../../../../server/domain/limits.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Field } from "../../ui/forms/field.tsx";
import type { AnyForm } from "../../ui/forms/form.tsx";
import { Select } from "../../ui/forms/select.tsx";

/** Dialog that creates or edits an automation: its name, its agent, and the fields of its kind. */
export function AutomationForm({
  noun,
  id,
  form,
  name,
  agent,
  body,
  onClose,
  children,
}: {
  /** Its kind: “schedule”. */
  noun: "schedule" | "trigger";
  /** Absent for a new one. */
  id?: string;
  form: AnyForm;
  /** Properties of the field with its name. */
  name: Pick<ComponentProps<typeof Field>, "placeholder" | "value" | "error" | "onChange">;
  agent: { choices: readonly { value: string; label: string }[]; onChoose: (agentId: string) => void };
  /** Body of the request. */
  body: { name: string; agent_id: string };
  onClose: () => void;
  children: ReactNode;
}) {
  const at = useWorkspace();
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title={`${id ? "Edit" : "Create"} ${noun}`}
      about={
        <>
          Its runs are <b>{at.mode} data</b> of {at.project.name}.
        </>
      }
      act={`${id ? "Save" : "Create"} ${noun}`}
      acting={`${id ? "Saving" : "Creating"} ${noun}`}
      ready={body.name !== "" && body.agent_id !== ""}
      failed={`The ${noun} was not ${id ? "saved" : "created"}`}
      request={{ method: id ? "PATCH" : "POST", path: `/v1/${noun}s${id ? `/${id}` : ""}`, body }}
    >
      <div className="grid items-start gap-4 rail:grid-cols-2">
        <Field label="Name" maxLength={limits.name_length} autoComplete="off" {...name} />
        <Select label="Agent" {...agent} value={body.agent_id} />
      </div>
      {agent.choices.length === 0 && (
        <Callout tone="info">There is no agent yet. Create one first: a {noun} runs an agent.</Callout>
      )}
      {children}
    </FormDialog>
  );
}
