import { type FormEvent, useRef, useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { type Amount, changedValues, nested, toAmount, toValue, type Value } from "./amount.ts";
import { AmountRow, type AmountSetting } from "./amount-row.tsx";
import { SaveBar } from "./save-bar.tsx";
import { useProjectChange } from "./use-project-change.ts";

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
  const form = useRef<HTMLFormElement>(null);
  const [edited, setEdited] = useState<Record<string, Amount>>({});
  const [checked, setChecked] = useState(false);
  const change = useProjectChange(project.id, () => reset({}));
  const mayBeFraction = (name: string) => settings.some((setting) => setting.name === name && setting.fraction);
  const changes = changedValues(saved, edited, mayBeFraction);
  const dirty = Object.keys(changes).length > 0;

  const reset = (next: Record<string, Amount>) => {
    setEdited(next);
    setChecked(false);
  };
  const edit = (next: Record<string, Amount>) => {
    reset(next);
    change.reset();
  };
  const faultAt = ({ name, fraction }: AmountSetting): string | null => {
    const amount = edited[name];
    if (checked && amount && toValue(amount, fraction) === undefined) return rule;
    return faultOf(change.error, `${group}.${name}`);
  };
  const focusFault = () =>
    requestAnimationFrame(() => form.current?.querySelector<HTMLInputElement>("[aria-invalid]")?.focus());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!dirty || change.isPending) return;
    setChecked(true);
    if (!isWhole(changes)) return focusFault();
    const save = () => change.mutate({ [group]: nested(changes) }, { onError: focusFault });
    if (ask) ask(changes, save);
    else save();
  };

  return (
    <form ref={form} onSubmit={submit} noValidate className="flex flex-col gap-4">
      <div>
        {settings.map((setting) => (
          <AmountRow
            key={setting.name}
            setting={setting}
            amount={edited[setting.name] ?? toAmount(saved[setting.name] ?? null, setting.usual)}
            fault={faultAt(setting)}
            readOnly={change.isPending}
            onChange={(amount) => edit({ ...edited, [setting.name]: amount })}
          />
        ))}
      </div>
      <SaveBar
        act={act}
        dirty={dirty}
        saving={change.isPending}
        saved={change.isSuccess}
        error={settings.some((setting) => faultOf(change.error, `${group}.${setting.name}`)) ? null : change.error}
        onDiscard={() => edit({})}
      />
    </form>
  );
}

function isWhole(changes: Record<string, Value | undefined>): changes is Record<string, Value> {
  return Object.values(changes).every((value) => value !== undefined);
}
