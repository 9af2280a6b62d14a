import { newId } from "../domain/ids.ts";

export const consolePrefixes = {
  user: "usr",
  session: "ses",
  invitation: "inv",
  backup: "bak",
  passkey: "pky",
} as const;

/** Ids of things that exist in the dashboard only. They are no API resources, so the API's id kinds lack them. */
export const newConsoleId = (kind: keyof typeof consolePrefixes, now: number): string =>
  newId("request", now).replace(/^req_/, `${consolePrefixes[kind]}_`);
