import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import { type Expiry, expiryFault, expiryOptions } from "./expiry.ts";

/** When a key ends: in some time, each with the day that it comes to, or on a day of one's own. */
export function ExpiryField({
  label,
  expiry,
  now,
  showFault,
  onChange,
}: {
  label: string;
  expiry: Expiry;
  now: number;
  showFault: boolean;
  onChange: (expiry: Expiry) => void;
}) {
  return (
    <div className="flex flex-col gap-3">
      <Select
        label={label}
        value={expiry.choice}
        choices={expiryOptions(now)}
        onChoose={(choice) => onChange({ ...expiry, choice })}
      />
      {expiry.choice === "date" && (
        <Field
          label="Last day"
          type="date"
          value={expiry.date}
          hint="To the end of this day, by your clock."
          error={showFault ? expiryFault(expiry, now) : null}
          onChange={(event) => onChange({ ...expiry, date: event.target.value })}
        />
      )}
    </div>
  );
}
