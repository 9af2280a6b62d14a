import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { deleteProject } from "../../entities/project/project-api.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";

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
  const deletion = useMutation({
    mutationFn: () => deleteProject(id, name),
    onSuccess: async () => {
      setOpen(false);
      await onDeleted();
    },
  });
  const close = () => {
    deletion.reset();
    setOpen(false);
  };
  return (
    <>
      <Button
        kind="danger-quiet"
        size={inRow ? "sm" : "md"}
        aria-label={inRow ? `Delete project ${name}` : undefined}
        onClick={() => setOpen(true)}
      >
        {inRow ? "Delete" : "Delete project"}
      </Button>
      {open && (
        <ConfirmDialog
          title={`Delete ${name}`}
          act="Delete project"
          acting="Deleting"
          keep="Keep it"
          typed={name}
          doing={deletion}
          refused="The project was not deleted"
          onConfirm={() => deletion.mutate()}
          onClose={close}
        >
          Everything in it is deleted, test and live: agents, runs, traces, API keys and files. Its keys are refused at
          once. Only a backup can restore it.
        </ConfirmDialog>
      )}
    </>
  );
}
