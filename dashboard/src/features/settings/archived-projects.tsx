import { useMutation } from "@tanstack/react-query";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { unarchiveProject } from "../../entities/project/project-api.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Time } from "../../ui/time.tsx";
import { DeleteProject } from "./delete-project.tsx";

interface ArchivedProjectsProps {
  projects: ProjectDetails[];
  /** Says what was done. */
  onChanged: (done: string) => Promise<void>;
}

/** What was put away: each can be taken back, or deleted for good. */
export function ArchivedProjects({ projects, onChanged }: ArchivedProjectsProps) {
  return (
    <ul aria-label="Archived projects" className="flex flex-col">
      {projects.map((project) => (
        <ArchivedProject key={project.id} project={project} onChanged={onChanged} />
      ))}
    </ul>
  );
}

function ArchivedProject({
  project,
  onChanged,
}: {
  project: ProjectDetails;
  onChanged: ArchivedProjectsProps["onChanged"];
}) {
  const { id, name, archived_at } = project;
  const unarchiving = useMutation({
    mutationFn: () => unarchiveProject(id),
    onSuccess: () => onChanged(`${name} is active again, with its keys.`),
  });
  return (
    <li className="flex flex-wrap items-center gap-2 border-t border-line-soft py-2.5 first:border-t-0 first:pt-0">
      <div className="min-w-0 flex-1">
        <div className="cut font-medium" title={name}>
          {name}
        </div>
        <div className="text-xs text-muted">Archived {archived_at && <Time at={archived_at} />}</div>
      </div>
      <Button
        size="sm"
        aria-label={`Unarchive project ${name}`}
        disabled={unarchiving.isPending}
        onClick={() => unarchiving.mutate()}
      >
        Unarchive
      </Button>
      <DeleteProject project={project} inRow onDeleted={() => onChanged(`${name} is deleted.`)} />
      {unarchiving.error && (
        <div className="w-full">
          <ErrorNote title="The project was not unarchived" error={unarchiving.error} />
        </div>
      )}
    </li>
  );
}
