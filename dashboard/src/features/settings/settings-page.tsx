import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FolderX } from "lucide-react";
import { useState } from "react";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { ArchivedProjects } from "./archived-projects.tsx";
import { DoneNote } from "./done-note.tsx";
import { ProjectSettings } from "./project-settings.tsx";
import { ServerFacts } from "./server-facts.tsx";
import { projectsQuery } from "./settings-api.ts";
import { SettingsSection } from "./settings-section.tsx";
import { SettingsSkeleton } from "./settings-skeleton.tsx";

/** The settings of the project that the side bar names, and what was put away. */
export function SettingsPage({ onProjectsChanged }: { onProjectsChanged: () => Promise<void> }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const list = useQuery({ ...projectsQuery, refetchOnWindowFocus: "always" });
  const [done, setDone] = useState<string | null>(null);
  useTitle("Settings", at.project.name);
  const changed = async (what: string | null) => {
    setDone(what);
    await Promise.all([client.invalidateQueries(projectsQuery), onProjectsChanged()]);
  };
  const project = list.data?.find(({ id, archived_at }) => id === at.projectId && archived_at === null);
  const archived = list.data?.filter(({ archived_at }) => archived_at !== null) ?? [];

  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Settings</h1>
        <span className="cut text-muted">{at.project.name}</span>
      </SheetHead>
      {/* Relative, or what is hidden in it for screen readers alone would make the frame scroll. */}
      <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
        <div className="max-w-250">
          {done && <DoneNote key={done}>{done}</DoneNote>}
          {list.error && (
            <div className="pt-4">
              <ErrorNote
                title={list.data ? "The settings may be out of date" : "The settings cannot be shown"}
                error={list.error}
                onRetry={() => void list.refetch()}
              />
            </div>
          )}
          {list.isPending && <SettingsSkeleton />}
          {list.data && !project && !list.isFetching && (
            <EmptyState icon={FolderX} title="This project is not in use any more">
              <p className="text-muted">It was archived or deleted elsewhere.</p>
              <Button onClick={() => void changed(null)}>Show another project</Button>
            </EmptyState>
          )}
          {project && <ProjectSettings key={project.id} project={project} onChanged={changed} />}
          {archived.length > 0 && (
            <SettingsSection title="Archived projects" about="Their keys are refused, and nothing of them runs.">
              <ArchivedProjects projects={archived} onChanged={changed} />
            </SettingsSection>
          )}
          <SettingsSection title="Sandbox" about="Holds what code tools run, for all projects of this server.">
            <ServerFacts />
          </SettingsSection>
        </div>
      </div>
    </>
  );
}
