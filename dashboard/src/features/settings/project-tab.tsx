import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FolderX } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { projectsQuery } from "../../entities/project/project-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Section } from "../../ui/data/section.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { ArchiveProject } from "./archive-project.tsx";
import { ArchivedProjects } from "./archived-projects.tsx";
import { BudgetForm } from "./budget-form.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { DoneNote } from "./done-note.tsx";
import { LimitsForm } from "./limits-form.tsx";
import { NameForm } from "./name-form.tsx";
import { OriginsForm } from "./origins-form.tsx";
import { OwnersOnly } from "./owners-only.tsx";
import { RetentionForm } from "./retention-form.tsx";
import { SettingsSkeleton } from "./settings-skeleton.tsx";
import { TabBody } from "./tab-body.tsx";

interface ProjectTabProps {
  part: "project" | "limits" | "retention";
  onProjectsChanged: () => Promise<void>;
}

/** One section of the current project's settings. */
export function ProjectTab({ part, onProjectsChanged }: ProjectTabProps) {
  const at = useWorkspace();
  const client = useQueryClient();
  const list = useQuery({ ...projectsQuery, refetchOnWindowFocus: "always" });
  const [done, setDone] = useState<string | null>(null);
  const changed = async (what: string | null) => {
    setDone(what);
    await Promise.all([client.invalidateQueries(projectsQuery), onProjectsChanged()]);
  };
  const project = list.data?.find(({ id, archived_at }) => id === at.projectId && archived_at === null);
  const archived = list.data?.filter(({ archived_at }) => archived_at !== null) ?? [];
  return (
    <TabBody>
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
        <EmptyState icon={FolderX} title="This project is no longer active">
          <p className="text-muted">It was archived or deleted elsewhere.</p>
          <Button onClick={() => void changed(null)}>Show another project</Button>
        </EmptyState>
      )}
      <OwnersOnly what="A project and its settings">
        {project && part === "project" && <ProjectForms key={project.id} project={project} onChanged={changed} />}
        {project && part === "limits" && <LimitForms key={project.id} project={project} />}
        {project && part === "retention" && <RetentionForms key={project.id} project={project} />}
        {part === "project" && archived.length > 0 && (
          <Section title="Archived projects" about="Their keys are refused and nothing runs.">
            <ArchivedProjects projects={archived} onChanged={changed} />
          </Section>
        )}
      </OwnersOnly>
    </TabBody>
  );
}

interface ProjectFormsProps {
  project: ProjectDetails;
  /** Called with a message; null if the form shows one itself. */
  onChanged: (done: string | null) => Promise<void>;
}

function ProjectForms({ project, onChanged }: ProjectFormsProps): ReactNode {
  const { id, name } = project;
  return (
    <>
      <Section title="Project" about="The name is for people. Programs use the id, which never changes.">
        <div className="flex flex-col gap-4">
          <div className="flex min-w-0 items-center gap-1 text-xs">
            <span className="text-muted">Id</span>
            <code className="cut">{id}</code>
            <CopyButton text={id} what="project id" />
          </div>
          <NameForm project={project} onRenamed={() => void onChanged(null)} />
        </div>
      </Section>
      <Section
        title="Web pages"
        about={
          <>
            Pages of these sites may call the API with{" "}
            <a href="/docs/guides/browsers" className="text-accent underline">
              client tokens
            </a>
            . Browsers block others.
          </>
        }
      >
        <OriginsForm project={project} />
      </Section>
      <Section title="Archive or delete" about="Both stop the project's runs, in test and in live.">
        <div className="flex flex-wrap gap-2">
          <ArchiveProject
            project={project}
            onArchived={() => onChanged(`${name} is archived. Its keys are refused, and its runs are cancelled.`)}
          />
          <DeleteProject project={project} onDeleted={() => onChanged(`${name} is deleted.`)} />
        </div>
      </Section>
    </>
  );
}

function LimitForms({ project }: { project: ProjectDetails }): ReactNode {
  return (
    <>
      <Section title="Limits" about="Test and live have separate limits. All keys of an environment share them.">
        <LimitsForm project={project} />
      </Section>
      <Section
        title="Daily budget"
        about="What models may cost per day (UTC). Test and live have separate budgets. A run that would exceed it fails before it calls the model."
      >
        <BudgetForm project={project} />
      </Section>
    </>
  );
}

function RetentionForms({ project }: { project: ProjectDetails }): ReactNode {
  return (
    <Section
      title="Retention"
      about="How long runs are kept after they end. A trace contains messages, events and steps. Without it, a run still shows its input and output."
    >
      <RetentionForm project={project} />
    </Section>
  );
}
