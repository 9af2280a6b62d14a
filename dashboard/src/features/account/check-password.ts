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
