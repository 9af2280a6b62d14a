import { formatCount } from "../../lib/format.ts";
import { Field } from "../../ui/forms/field.tsx";
import { variableValue } from "./prompt-variables.ts";

/** Maximum number of fields, which a browser still renders quickly. */
const mostShown = 50;

/** A field for each variable of the prompt. */
export function VariableFields({
  names,
  values,
  onValues,
  readOnly,
}: {
  names: readonly string[];
  values: Readonly<Record<string, string>>;
  onValues: (values: Record<string, string>) => void;
  readOnly: boolean;
}) {
  if (names.length === 0) return null;
  return (
    <fieldset className="flex min-w-0 flex-col gap-3" disabled={readOnly}>
      <legend className="mb-1.5 font-medium">Variables</legend>
      {names.slice(0, mostShown).map((name) => (
        <Field
          key={name}
          label={name}
          hint={variableValue(values, name) ? undefined : `Empty: {{${name}}} is sent unchanged.`}
          autoComplete="off"
          value={variableValue(values, name)}
          onChange={({ target }) => onValues({ ...values, [name]: target.value })}
        />
      ))}
      {names.length > mostShown && (
        <p className="text-xs text-muted">{formatCount(names.length - mostShown)} more are sent unchanged.</p>
      )}
      <p className="text-xs text-muted">Runs here use the values. Saved versions keep the variables.</p>
    </fieldset>
  );
}
