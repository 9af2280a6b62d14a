import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { originFault } from "../../../../server/domain/web-origin.ts";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { useProjectForm } from "./use-project-form.ts";

const linesOf = (text: string): string[] => [
  ...new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

/** Origins whose pages may call the API, one per line. */
export function OriginsForm({ project }: { project: ProjectDetails }) {
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
