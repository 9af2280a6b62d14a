import { type FormEvent, useId, useState } from "react";
import type { UnknownPrice } from "../../../../server/core/budget-schema.ts";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { ChoiceBar } from "../../ui/choice-bar.tsx";
import { SaveBar } from "./save-bar.tsx";
import { useProjectChange } from "./use-project-change.ts";

const choices = [
  { value: "refuse", label: "Refuse" },
  { value: "allow", label: "Allow" },
] as const;

/** What a budget in USD means for models whose cost nobody knows. */
export function UnknownPriceForm({ project }: { project: ProjectDetails }) {
  const id = useId();
  const [edited, setEdited] = useState<UnknownPrice | null>(null);
  const change = useProjectChange(project.id, () => setEdited(null));
  const chosen = edited ?? project.unknown_price;
  const dirty = chosen !== project.unknown_price;
  const edit = (next: UnknownPrice | null) => {
    setEdited(next);
    change.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (dirty && !change.isPending) change.mutate({ unknown_price: chosen });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <fieldset className="grid items-center gap-x-6 gap-y-2 border-t border-line-soft pt-3 rail:grid-cols-[minmax(0,1fr)_auto]">
        <legend className="sr-only">Models without a known price</legend>
        <div aria-hidden className="min-w-0">
          <div className="font-medium">Models without a known price</div>
          <div className="text-xs text-muted">
            Where there is a budget in USD, of the day or of a run. Allowed, they count as tokens and not as cost.
          </div>
        </div>
        <ChoiceBar name={id} choices={choices} chosen={chosen} readOnly={change.isPending} onChoose={edit} />
      </fieldset>
      <SaveBar
        act="Save choice"
        dirty={dirty}
        saving={change.isPending}
        saved={change.isSuccess}
        error={change.error}
        onDiscard={() => edit(null)}
      />
    </form>
  );
}
