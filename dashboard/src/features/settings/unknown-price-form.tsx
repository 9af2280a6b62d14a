import { useId } from "react";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import type { UnknownPrice } from "../../../../server/domain/budget-schema.ts";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { useProjectForm } from "./use-project-form.ts";

const choices = [
  { value: "refuse", label: "Refuse" },
  { value: "allow", label: "Allow" },
] as const;

/** Effect of a USD budget on models with unknown prices. */
export function UnknownPriceForm({ project }: { project: ProjectDetails }) {
  const id = useId();
  const form = useProjectForm(project.id, {
    first: { unknown_price: null as UnknownPrice | null },
    changeOf: ({ unknown_price }) => ({ unknown_price: unknown_price! }),
  });
  const chosen = form.draft.unknown_price ?? project.unknown_price;
  return (
    <SettingsForm form={form} isDirty={chosen !== project.unknown_price} act="Save choice">
      <fieldset className="grid items-center gap-x-6 gap-y-2 border-t border-line-soft pt-3 rail:grid-cols-[minmax(0,1fr)_auto]">
        <legend className="sr-only">Models without a known price</legend>
        <div aria-hidden className="min-w-0">
          <div className="font-medium">Models without a known price</div>
          <div className="text-xs text-muted">
            Applies when there is a budget in USD. If allowed, their tokens count, but not their cost.
          </div>
        </div>
        <SegmentedControl
          name={id}
          choices={choices}
          readOnly={form.isPending}
          {...form.choose("unknown_price")}
          chosen={chosen}
        />
      </fieldset>
    </SettingsForm>
  );
}
