import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { createProject, projectsQuery } from "../../entities/project/project-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";

interface NewProjectProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onCreated: (id: string) => Promise<void>;
}

/** Makes a project. */
export function NewProject({ open, onOpenChange, onCreated }: NewProjectProps) {
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState("");
  const client = useQueryClient();
  const creation = useMutation({
    mutationFn: createProject,
    onSuccess: async ({ id }) => {
      void client.invalidateQueries(projectsQuery);
      await onCreated(id);
      leave(false);
    },
    onError: () => field.current?.focus(),
  });
  const edit = (next: string) => {
    setName(next);
    creation.reset();
  };
  const leave = (next: boolean) => {
    if (!next) edit("");
    onOpenChange(next);
  };
  const fault = faultOf(creation.error, "name");
  return (
    <FormDialog
      open={open}
      onOpenChange={leave}
      title="New project"
      act={creation.isPending ? "Creating project" : "Create project"}
      busy={creation.isPending || name.trim() === ""}
      onSubmit={() => creation.mutate(name.trim())}
    >
      <p className="text-md">
        A project holds agents, runs and keys of its own, in test and in live. Nothing of it is seen by another.
      </p>
      <Field
        ref={field}
        label="Name"
        value={name}
        onChange={(event) => edit(event.target.value)}
        maxLength={128}
        autoComplete="off"
        spellCheck={false}
        hint="1 to 64 letters, digits, - and _."
        error={fault}
      />
      {creation.error && !fault && <ErrorNote title="The project was not created" error={creation.error} />}
    </FormDialog>
  );
}
