import { Field } from "../../ui/field.tsx";

/** A field for each variable of what is sent. */
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
      {names.map((name) => (
        <Field
          key={name}
          label={name}
          hint={values[name] ? undefined : `Empty: {{${name}}} is sent unchanged.`}
          autoComplete="off"
          value={values[name] ?? ""}
          onChange={({ target }) => onValues({ ...values, [name]: target.value })}
        />
      ))}
      <p className="text-xs text-muted">Runs here use the values. Saved versions keep the variables.</p>
    </fieldset>
  );
}
