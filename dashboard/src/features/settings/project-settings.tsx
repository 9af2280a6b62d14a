import { CopyButton } from "../../ui/copy-button.tsx";
import { ArchiveProject } from "./archive-project.tsx";
import { BudgetForm } from "./budget-form.tsx";
import { DeleteProject } from "./delete-project.tsx";
import { LimitsForm } from "./limits-form.tsx";
import { NameForm } from "./name-form.tsx";
import { RetentionForm } from "./retention-form.tsx";
import type { ProjectDetails } from "./settings-api.ts";
import { SettingsSection } from "./settings-section.tsx";

interface ProjectSettingsProps {
  project: ProjectDetails;
  /** Says what was done, or null where the form says it itself. */
  onChanged: (done: string | null) => Promise<void>;
}

/** All that can be set for one project, and its end. */
export function ProjectSettings({ project, onChanged }: ProjectSettingsProps) {
  const { id, name } = project;
  return (
    <>
      <SettingsSection title="Project" about="The name is for people. Programs use the id, which never changes.">
        <div className="flex flex-col gap-4">
          <div className="flex min-w-0 items-center gap-1 text-xs">
            <span className="text-muted">Id</span>
            <code className="cut">{id}</code>
            <CopyButton text={id} what="project id" />
          </div>
          <NameForm project={project} onRenamed={() => void onChanged(null)} />
        </div>
      </SettingsSection>
      <SettingsSection
        title="Limits"
        about="Of test and of live, each for itself. They hold for all keys of the environment together."
      >
        <LimitsForm project={project} />
      </SettingsSection>
      <SettingsSection
        title="Daily budget"
        about="What models may cost in a day, until 00:00 UTC: of test and of live, each for itself. A run that would pass it fails before it calls its model."
      >
        <BudgetForm project={project} />
      </SettingsSection>
      <SettingsSection
        title="Retention"
        about="How long runs are kept once they are over. A trace holds messages, events and steps; without it a run still shows what was asked and what came of it."
      >
        <RetentionForm project={project} />
      </SettingsSection>
      <SettingsSection title="Archive or delete" about="Both end what the project does now, in test and in live.">
        <div className="flex flex-wrap gap-2">
          <ArchiveProject
            project={project}
            onArchived={() => onChanged(`${name} is archived. Its keys are refused, and its runs are cancelled.`)}
          />
          <DeleteProject project={project} onDeleted={() => onChanged(`${name} is deleted.`)} />
        </div>
      </SettingsSection>
    </>
  );
}
