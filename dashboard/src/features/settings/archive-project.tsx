import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { archiveProject } from "../../entities/project/project-api.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";

interface ArchiveProjectProps {
  project: ProjectDetails;
  onArchived: () => Promise<void>;
}

/** Puts a project away, after saying what that ends. */
export function ArchiveProject({ project, onArchived }: ArchiveProjectProps) {
  const [open, setOpen] = useState(false);
  const archiving = useMutation({
    mutationFn: () => archiveProject(project.id),
    onSuccess: async () => {
      setOpen(false);
      await onArchived();
    },
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>Archive project</Button>
      <ConfirmDialog
        open={open}
        title={`Archive ${project.name}`}
        act="Archive project"
        acting="Archiving"
        keep="Keep the project"
        doing={archiving}
        refused="The project was not archived"
        onConfirm={() => archiving.mutate()}
        onClose={() => setOpen(false)}
      >
        <p>
          Its API keys are refused at once, in test and in live, and its runs in progress are cancelled. Nothing is
          deleted: Unarchive restores it, with the same keys.
        </p>
      </ConfirmDialog>
    </>
  );
}
