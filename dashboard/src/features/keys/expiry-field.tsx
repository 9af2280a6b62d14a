import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import type { Expiry, ExpiryChoice } from "./expiry.ts";

/** Chooses when a key expires: after a fixed time, or on a date. */
export function ExpiryField<Choice extends string = ExpiryChoice>({
  label,
  expiry,
  options,
  fault,
  onChange,
}: {
  label: string;
  expiry: Expiry<Choice>;
  options: { value: Choice; label: string }[];
  fault: string | null | undefined;
  onChange: (expiry: Expiry<Choice>) => void;
}) {
  return (
    <div className="flex flex-col gap-3">
      <Select
        label={label}
        value={expiry.choice}
        choices={options}
        onChoose={(choice) => onChange({ ...expiry, choice })}
      />
      {expiry.choice === "date" && (
        <Field
          label="Last day"
          type="date"
          value={expiry.date}
          hint="Until the end of this day, in your time zone."
          error={fault}
          onChange={(event) => onChange({ ...expiry, date: event.target.value })}
        />
      )}
    </div>
  );
}
