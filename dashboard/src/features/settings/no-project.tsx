import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FolderOpen } from "lucide-react";
import { useState } from "react";
import { projectsQuery } from "../../entities/project/project-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { ArchivedProjects } from "./archived-projects.tsx";
import { NewProject } from "./new-project.tsx";

/** Page without an active project: create the first one, or restore an archived one. */
export function NoProject({ onProjectsChanged }: { onProjectsChanged: () => Promise<void> }) {
  const client = useQueryClient();
  const { data: archived = [] } = useQuery(projectsQuery);
  const [open, setOpen] = useState(false);
  const may = usePermission("owner");
  useTitle("No project");
  const changed = async () => {
    await Promise.all([client.invalidateQueries(projectsQuery), onProjectsChanged()]);
  };
  return (
    <div className="relative min-h-0 overflow-y-auto">
      <EmptyState page icon={FolderOpen} title="No active project">
        <p className="text-muted">
          A project contains agents, runs and keys. From a terminal: <code>runnel projects create NAME</code>
        </p>
        <Button kind="primary" disabled={!may} onClick={() => setOpen(true)}>
          New project
        </Button>
        {!may && <p className="text-xs text-muted">Owners create projects and unarchive them.</p>}
        <NewProject open={open} onOpenChange={setOpen} onCreated={changed} />
        {archived.length > 0 && (
          <section className="w-full max-w-135 pt-6 text-left">
            <h2 className="border-b border-line pb-2 text-md">Archived projects</h2>
            <fieldset disabled={!may} className="min-w-0 pt-3">
              <ArchivedProjects projects={archived} onChanged={changed} />
            </fieldset>
          </section>
        )}
      </EmptyState>
    </div>
  );
}
