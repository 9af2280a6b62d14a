import { checkPassword } from "./check-password.ts";

/** What is wrong with the fields of a new account, each by its name; nothing when all is well. */
export interface AccountFaults {
  token?: string;
  email?: string;
  password?: string;
  repeat?: string;
}

/** Checks a new account before it is sent. */
export function checkAccount(fields: {
  token: string;
  email: string;
  password: string;
  repeat: string;
}): AccountFaults {
  const faults: AccountFaults = {};
  if (!fields.token.trim()) faults.token = "The code is missing. The terminal shows it at the end of the set-up link.";
  if (!/^\S+@\S+$/.test(fields.email.trim()))
    faults.email = "This is not an email address. It needs a name, an @ and a host.";
  return { ...faults, ...checkPassword(fields) };
}
