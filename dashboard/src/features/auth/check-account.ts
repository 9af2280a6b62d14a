import type { FieldErrors } from "../../lib/field-errors.ts";

interface NewPassword {
  password: string;
  repeat: string;
}

interface NewAccount extends NewPassword {
  token: string;
  email: string;
}

/** Validates a new account before it is sent. */
export function checkAccount(fields: NewAccount): FieldErrors<NewAccount> {
  const faults: FieldErrors<NewAccount> = {};
  if (!fields.token.trim()) faults.token = "Enter the code. The terminal shows it at the end of the set-up link.";
  if (!/^\S+@\S+$/.test(fields.email.trim()))
    faults.email = "This is not an email address. It needs a name, an @ and a host.";
  return { ...faults, ...checkPassword(fields) };
}

export const minPasswordLength = 12;

/** Validates a new password before it is sent. */
export function checkPassword({ password, repeat }: NewPassword): FieldErrors<NewPassword> {
  const missing = minPasswordLength - [...password].length;
  return {
    ...(missing > 0 && {
      password: `${missing} more ${missing === 1 ? "character" : "characters"}. A few words make a good password.`,
    }),
    ...(repeat !== password && { repeat: "The two passwords differ." }),
  };
}
