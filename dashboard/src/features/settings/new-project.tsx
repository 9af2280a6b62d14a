import { useQueryClient } from "@tanstack/react-query";
import { limits } from "../../../../server/domain/limits.ts";
import { createProject, projectsQuery } from "../../entities/project/project-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Field } from "../../ui/forms/field.tsx";

interface NewProjectProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onCreated: (id: string) => Promise<void>;
}

/** Dialog that creates a project. */
export function NewProject({ open, onOpenChange, onCreated }: NewProjectProps) {
  const client = useQueryClient();
  const form = useForm({
    first: { name: "" },
    send: ({ name }) => createProject(name.trim()),
    onSent: async ({ id }) => {
      void client.invalidateQueries(projectsQuery);
      await onCreated(id);
      leave();
    },
  });
  const leave = () => {
    form.restart();
    onOpenChange(false);
  };
  return (
    <FormDialog
      open={open}
      form={{ ...form, isUnsaved: false }}
      onClose={leave}
      title="New project"
      act="Create project"
      acting="Creating project"
      ready={form.draft.name.trim() !== ""}
      failed="The project was not created"
    >
      <p className="text-md">
        A project has its own agents, runs and keys, in test and in live. Projects cannot see each other's data.
      </p>
      <Field
        label="Name"
        maxLength={limits.name_length}
        autoComplete="off"
        spellCheck={false}
        hint="1 to 64 letters, digits, - and _."
        {...form.text("name")}
      />
    </FormDialog>
  );
}
