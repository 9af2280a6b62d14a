import type { Fields } from "../../hooks/use-form.ts";
import { Field } from "../../ui/forms/field.tsx";
import { minPasswordLength } from "./check-account.ts";

/** Two fields for a new password and its repetition. */
export function NewPasswordFields({
  labels: [first, second] = ["Password", "Repeat the password"],
  text,
  autoFocus,
}: {
  labels?: readonly [first: string, second: string];
  text: Fields<{ password: string; repeat: string }>["text"];
  autoFocus?: boolean;
}) {
  return (
    <>
      <Field
        label={first}
        name="password"
        type="password"
        autoComplete="new-password"
        hint={`At least ${minPasswordLength} characters. Spaces are allowed.`}
        autoFocus={autoFocus}
        {...text("password")}
      />
      <Field label={second} name="repeat" type="password" autoComplete="new-password" {...text("repeat")} />
    </>
  );
}
