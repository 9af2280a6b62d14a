import { useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { deleteProject } from "../../entities/project/project-api.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";

interface DeleteProjectProps {
  project: ProjectDetails;
  /** In a row of several projects the button is smaller, and its name says which project it means. */
  inRow?: boolean;
  onDeleted: () => unknown;
}

/** Deletes a project with everything in it, once its name was typed. */
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
