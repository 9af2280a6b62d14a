import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import type { Expiry, ExpiryChoice } from "./expiry.ts";

/** When a key ends: in some time, each with the day that it comes to, or on a day of one's own. */
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
