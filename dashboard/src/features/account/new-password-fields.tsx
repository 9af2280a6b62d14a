import { Field } from "../../ui/field.tsx";
import { minPasswordLength, type PasswordFaults } from "./check-account.ts";

/** A new password, twice. */
export function NewPasswordFields({
  labels: [first, second] = ["Password", "Repeat the password"],
  faults,
  autoFocus,
}: {
  labels?: readonly [first: string, second: string];
  faults: PasswordFaults;
  autoFocus?: boolean;
}) {
  return (
    <>
      <Field
        label={first}
        name="password"
        type="password"
        autoComplete="new-password"
        hint={`At least ${minPasswordLength} characters; spaces are welcome.`}
        error={faults.password}
        autoFocus={autoFocus}
      />
      <Field label={second} name="repeat" type="password" autoComplete="new-password" error={faults.repeat} />
    </>
  );
}
