import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { Field } from "../../ui/forms/field.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { useProjectForm } from "./use-project-form.ts";

/** Form that renames a project. */
export function NameForm({ project, onRenamed }: { project: ProjectDetails; onRenamed: () => void }) {
  const form = useProjectForm(project.id, {
    first: { name: null as string | null },
    changeOf: ({ name }) => ({ name: name!.trim() }),
    onSaved: onRenamed,
  });
  const name = form.draft.name ?? project.name;
  return (
    <SettingsForm form={form} isDirty={name.trim() !== project.name} act="Save name">
      <div className="max-w-90">
        <Field
          label="Name"
          {...form.text("name")}
          value={name}
          readOnly={form.isPending}
          maxLength={limits.name_length}
          autoComplete="off"
          spellCheck={false}
          hint="1 to 64 letters, digits, - and _."
        />
      </div>
    </SettingsForm>
  );
}
