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

export const minPasswordLength = 12;

/** What is wrong with the fields of a password's change. */
export interface PasswordFaults {
  current_password?: string;
  password?: string;
  repeat?: string;
}

/** Checks a new password before it is sent. */
export function checkPassword({ password, repeat }: { password: string; repeat: string }): PasswordFaults {
  const missing = minPasswordLength - [...password].length;
  return {
    ...(missing > 0 && {
      password: `${missing} more ${missing === 1 ? "character" : "characters"}. A few words make a good password.`,
    }),
    ...(repeat !== password && { repeat: "The two passwords differ." }),
  };
}
