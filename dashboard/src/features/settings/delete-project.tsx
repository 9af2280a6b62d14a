import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { deleteProject } from "../../entities/project/project-api.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";

interface DeleteProjectProps {
  project: ProjectDetails;
  /** In a row of several projects the button is smaller, and its name says which project it means. */
  inRow?: boolean;
  onDeleted: () => Promise<void>;
}

/** Deletes a project with everything in it, once its name was typed. */
export function DeleteProject({ project, inRow = false, onDeleted }: DeleteProjectProps) {
  const { id, name } = project;
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const deletion = useMutation({
    mutationFn: () => deleteProject(id, typed.trim()),
    onSuccess: async () => {
      setOpen(false);
      await onDeleted();
    },
  });
  const sure = typed.trim() === name && !deletion.isPending;
  const show = (next: boolean) => {
    setTyped("");
    deletion.reset();
    setOpen(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (sure) deletion.mutate();
  };
  return (
    <>
      <Button
        kind="danger-quiet"
        size={inRow ? "sm" : "md"}
        aria-label={inRow ? `Delete project ${name}` : undefined}
        onClick={() => show(true)}
      >
        {inRow ? "Delete" : "Delete project"}
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={show}
        title={`Delete ${name}`}
        act={deletion.isPending ? "Deleting" : "Delete project"}
        keep="Keep it"
        busy={!sure}
        onConfirm={() => deletion.mutate()}
      >
        <form onSubmit={submit} className="flex flex-col gap-4">
          <p>
            Everything in it is deleted, test and live: agents, runs, traces, API keys and files. Its keys are refused
            at once. Nothing brings it back, but a backup.
          </p>
          <Field
            label={`Type ${name} to go on`}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
          {deletion.error && <ErrorNote title="The project was not deleted" error={deletion.error} />}
        </form>
      </ConfirmDialog>
    </>
  );
}
