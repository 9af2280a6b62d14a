import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { type Amount, changedValues, nested, toAmount, type Value } from "./amount.ts";
import { AmountRow, type AmountSetting } from "./amount-row.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { useProjectForm } from "./use-project-form.ts";

type Edits = Record<string, Amount>;

interface AmountsFormProps {
  project: ProjectDetails;
  /** What of the project this form changes. */
  group: "limits" | "retention" | "budget_per_day";
  settings: AmountSetting[];
  saved: Record<string, Value>;
  act: string;
  /** What to say of a number that is none. */
  rule: string;
  /** Asks first, and calls `save` or does not. Without it everything is saved at once. */
  ask?: (changes: Record<string, Value>, save: () => void) => void;
}

/** A form of settings that are numbers. What was edited stays until it is saved or discarded, whatever else changes. */
export function AmountsForm({ project, group, settings, saved, act, rule, ask }: AmountsFormProps) {
  const mayBeFraction = (name: string) => settings.some((setting) => setting.name === name && setting.fraction);
  const changesOf = (edited: Edits) => changedValues(saved, edited, mayBeFraction);
  const form = useProjectForm<Edits>(project.id, {
    first: {},
    changeOf: (edited) => ({ [group]: nested(changesOf(edited) as Record<string, Value>) }),
    check: (edited) =>
      Object.fromEntries(
        Object.entries(changesOf(edited)).map(([name, value]) => [name, value === undefined ? rule : null]),
      ),
    fieldOf: (param) => param.replace(`${group}.`, ""),
  });
  const changes = changesOf(form.draft);
  const submit = () => {
    if (!ask || !isWhole(changes)) return form.submit();
    ask(changes, form.submit);
    return true;
  };
  return (
    <SettingsForm form={{ ...form, submit }} isDirty={Object.keys(changes).length > 0} act={act}>
      <div>
        {settings.map((setting) => (
          <AmountRow
            key={setting.name}
            setting={setting}
            amount={form.draft[setting.name] ?? toAmount(saved[setting.name] ?? null, setting.usual)}
            fault={form.faults[setting.name] ?? null}
            readOnly={form.isPending}
            onChange={(amount) => form.set({ [setting.name]: amount })}
          />
        ))}
      </div>
    </SettingsForm>
  );
}

function isWhole(changes: Record<string, Value | undefined>): changes is Record<string, Value> {
  return Object.values(changes).every((value) => value !== undefined);
}
