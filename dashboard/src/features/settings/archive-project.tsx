import { useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { archiveProject } from "../../entities/project/project-api.ts";
import { ActDialog } from "../../ui/act-dialog.tsx";
import { Button } from "../../ui/button.tsx";

interface ArchiveProjectProps {
  project: ProjectDetails;
  onArchived: () => Promise<void>;
}

/** Puts a project away, after saying what that ends. */
export function ArchiveProject({ project, onArchived }: ArchiveProjectProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Archive project</Button>
      <ActDialog
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
      </ActDialog>
    </>
  );
}
