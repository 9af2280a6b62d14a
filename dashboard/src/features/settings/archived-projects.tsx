import { useMutation } from "@tanstack/react-query";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { unarchiveProject } from "../../entities/project/project-api.ts";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { DeleteProject } from "./delete-project.tsx";

interface ArchivedProjectsProps {
  projects: ProjectDetails[];
  /** Called with a message about the result. */
  onChanged: (done: string) => Promise<void>;
}

/** Archived projects, with restore and delete. */
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
