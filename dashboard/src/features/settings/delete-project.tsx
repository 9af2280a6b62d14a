import { useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { deleteProject } from "../../entities/project/project-api.ts";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { Button } from "../../ui/forms/button.tsx";

interface DeleteProjectProps {
  project: ProjectDetails;
  /** Smaller button with the project's name in its label, for lists of projects. */
  inRow?: boolean;
  onDeleted: () => unknown;
}

/** Deletes a project with all its data after its name was typed. */
export function DeleteProject({ project, inRow = false, onDeleted }: DeleteProjectProps) {
  const { id, name } = project;
  const [open, setOpen] = useState(false);
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
        <DeleteDialog
          noun="project"
          name={name}
          typed
          remove={() => deleteProject(id, name)}
          stale={[]}
          onClose={() => setOpen(false)}
          onDeleted={onDeleted}
        >
          Everything in it is deleted, test and live: agents, runs, traces, API keys and files. Its keys are refused at
          once. Only a backup can restore it.
        </DeleteDialog>
      )}
    </>
  );
}
