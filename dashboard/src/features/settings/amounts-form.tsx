import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import { type Amount, changedValues, nestDottedNames, toAmount, type Value } from "./amount.ts";
import { AmountRow, type AmountSetting } from "./amount-row.tsx";
import { SettingsForm } from "./settings-form.tsx";
import { useProjectForm } from "./use-project-form.ts";

type Edits = Record<string, Amount>;

interface AmountsFormProps {
  project: ProjectDetails;
  /** Project field that this form edits. */
  group: "limits" | "retention" | "budget_per_day";
  settings: AmountSetting[];
  saved: Record<string, Value>;
  act: string;
  /** Error message for an invalid number. */
  rule: string;
  /** Confirms before calling `save`. Without it, changes are saved immediately. */
  ask?: (changes: Record<string, Value>, save: () => void) => void;
}

/** Form of numeric settings. Edits stay until saved or discarded, even if the project is refetched. */
export function AmountsForm({ project, group, settings, saved, act, rule, ask }: AmountsFormProps) {
  const mayBeFraction = (name: string) => settings.some((setting) => setting.name === name && setting.fraction);
  const changesOf = (edited: Edits) => changedValues(saved, edited, mayBeFraction);
  const form = useProjectForm<Edits>(project.id, {
    first: {},
    changeOf: (edited) => ({ [group]: nestDottedNames(changesOf(edited) as Record<string, Value>) }),
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
            fault={form.fieldErrors[setting.name] ?? null}
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
