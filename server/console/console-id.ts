import { newId } from "../core/ids.ts";

export const consolePrefixes = {
  user: "usr",
  session: "ses",
  invitation: "inv",
  backup: "bak",
  passkey: "pky",
} as const;

/** Ids of what only the dashboard has. It is no resource of the API, so it has no kind of its own there. */
export const newConsoleId = (kind: keyof typeof consolePrefixes, now: number): string =>
  newId("request", now).replace(/^req_/, `${consolePrefixes[kind]}_`);
