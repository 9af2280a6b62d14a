import { useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { archiveProject } from "../../entities/project/project-api.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { Button } from "../../ui/forms/button.tsx";

interface ArchiveProjectProps {
  project: ProjectDetails;
  onArchived: () => Promise<void>;
}

/** Archives a project after explaining the effects. */
export function ArchiveProject({ project, onArchived }: ArchiveProjectProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Archive project</Button>
      <ActionDialog
        open={open}
        title={`Archive ${project.name}`}
        act="Archive project"
        acting="Archiving"
        refused="The project was not archived"
        run={() => archiveProject(project.id)}
        onClose={() => setOpen(false)}
        onDone={onArchived}
      >
        <p>
          Its API keys are refused at once, in test and in live, and its runs in progress are cancelled. Nothing is
          deleted: Unarchive restores it, with the same keys.
        </p>
      </ActionDialog>
    </>
  );
}
