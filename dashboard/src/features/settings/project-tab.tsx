import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FolderX } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { defaultLimits } from "../../../../server/domain/project-settings.ts";
import { originFault } from "../../../../server/domain/web-origin.ts";
import { archiveProject, projectsQuery } from "../../entities/project/project-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Section } from "../../ui/data/section.tsx";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import type { AmountSetting } from "./amount-row.tsx";
import { AmountsForm } from "./amounts-form.tsx";
import { ArchivedProjects } from "./archived-projects.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { NameForm } from "./name-form.tsx";
import { OwnersOnly } from "./owners-only.tsx";
import { RetentionForm } from "./retention-form.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { SettingsSkeleton } from "./settings-skeleton.tsx";
import { TabBody } from "./tab-body.tsx";
import { UnknownPriceForm } from "./unknown-price-form.tsx";
import { useProjectForm } from "./use-project-form.ts";

interface ProjectTabProps {
  part: "project" | "limits" | "retention";
  onProjectsChanged: () => Promise<void>;
}

/** One section of the current project's settings. */
export function ProjectTab({ part, onProjectsChanged }: ProjectTabProps) {
  const at = useWorkspace();
  const client = useQueryClient();
  const list = useQuery({ ...projectsQuery, refetchOnWindowFocus: "always" });
  const [notice, setNotice] = useState<string | null>(null);
  const showNotice = async (message: string | null) => {
    setNotice(message);
    await Promise.all([client.invalidateQueries(projectsQuery), onProjectsChanged()]);
  };
  const project = list.data?.find(({ id, archived_at }) => id === at.projectId && archived_at === null);
  const archived = list.data?.filter(({ archived_at }) => archived_at !== null) ?? [];
  return (
    <TabBody>
      {notice && <DoneNote key={notice}>{notice}</DoneNote>}
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
          <Button onClick={() => void showNotice(null)}>Show another project</Button>
        </EmptyState>
      )}
      <OwnersOnly what="A project and its settings">
        {project && part === "project" && <ProjectForms key={project.id} project={project} onChanged={showNotice} />}
        {project && part === "limits" && <LimitForms key={project.id} project={project} />}
        {project && part === "retention" && <RetentionForms key={project.id} project={project} />}
        {part === "project" && archived.length > 0 && (
          <Section title="Archived projects" about="Their keys are refused and nothing runs.">
            <ArchivedProjects projects={archived} onChanged={showNotice} />
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

interface ArchiveProjectProps {
  project: ProjectDetails;
  onArchived: () => Promise<void>;
}

/** Archives a project after explaining the effects. */
function ArchiveProject({ project, onArchived }: ArchiveProjectProps) {
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

const budget = (name: string, label: string, hint: string, unit: string): AmountSetting => ({
  name,
  label,
  hint,
  unit,
  usual: null,
  blank: "No limit",
  choices: [
    { value: "unset", label: "No limit" },
    { value: "own", label: "Number" },
  ],
});

const settings = [
  { ...budget("max_cost_usd", "Cost", "Uses the prices in the Prices tab.", "USD"), fraction: true },
  budget("max_total_tokens", "Tokens", "Input and output tokens together.", "tokens"),
];

/** Daily model budget for each mode of a project. */
function BudgetForm({ project }: { project: ProjectDetails }) {
  return (
    <div className="flex flex-col gap-6">
      <AmountsForm
        project={project}
        group="budget_per_day"
        settings={settings}
        saved={project.budget_per_day}
        act="Save budget"
        rule="Enter a number above 0; tokens are whole numbers. Choose No limit for no budget."
      />
      <UnknownPriceForm project={project} />
    </div>
  );
}

/** Status message. It takes the focus, because the pressed button disappeared with its project. */
function DoneNote({ children }: { children: ReactNode }) {
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => note.current?.focus(), []);
  return (
    <div ref={note} tabIndex={-1} className="mt-4 rounded-md">
      <Callout tone="ok" role="status">
        {children}
      </Callout>
    </div>
  );
}

const limit = (name: keyof typeof defaultLimits, label: string, hint: string, unit: string): AmountSetting => ({
  name,
  label,
  hint,
  unit,
  usual: defaultLimits[name],
  blank: "No limit",
  choices: [
    { value: "unset", label: `Default ${defaultLimits[name]}` },
    { value: "off", label: "No limit" },
    { value: "own", label: "Number" },
  ],
});

const limits = [
  limit("reads_per_minute", "Reads", "GET requests.", "per minute"),
  limit("run_creations_per_minute", "Run creations", "New runs.", "per minute"),
  limit("writes_per_minute", "Other writes", "All other requests.", "per minute"),
  limit("runs_in_progress", "Runs in progress", "Runs that need action do not count.", "at once"),
  limit("children_per_run", "Runs started by one run", "Runs started by its agent tools, at any depth.", "total"),
];

/** Rate and size limits of a project's modes. */
function LimitsForm({ project }: { project: ProjectDetails }) {
  return (
    <AmountsForm
      project={project}
      group="limits"
      settings={limits}
      saved={project.limits}
      act="Save limits"
      rule="Enter a whole number. Choose No limit for none."
    />
  );
}

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

/** Origins whose pages may call the API, one per line. */
function OriginsForm({ project }: { project: ProjectDetails }) {
  const saved = project.origins.join("\n");
  const form = useProjectForm(project.id, {
    first: { origins: null as string | null },
    changeOf: ({ origins }) => ({ origins: linesOf(origins ?? saved) }),
    check: ({ origins }) => {
      const wrong = linesOf(origins ?? "").find(originFault);
      return wrong === undefined ? {} : { origins: `${wrong}: ${originFault(wrong)}` };
    },
  });
  const text = form.draft.origins ?? saved;
  return (
    <SettingsForm form={form} isDirty={linesOf(text).join("\n") !== saved} act="Save origins">
      <div className="max-w-120">
        <TextArea
          label="Origins"
          mono
          {...form.text("origins")}
          value={text}
          readOnly={form.isPending}
          autoComplete="off"
          placeholder="https://example.com"
          hint="One per line, such as https://example.com. Empty: pages of other sites cannot use the API."
        />
      </div>
    </SettingsForm>
  );
}
