import { personPage } from "../../http/person-page.ts";

interface AskedConsent {
  /** The OAuth client's name, which the project chose. */
  name: string;
  /** The host where the person signs in. */
  host: string;
  project: string;
  userId: string | null;
}

/** Returns the page on which an operator reads what they are about to connect, and goes on to the authorization server. */
export function connectionConsentPage(
  { connection, host }: { connection: string; host: string },
  headers: Record<string, string>,
): Response {
  const text = `Runs of all projects will use your account at ${host} through the model connection ${connection}. Go on only if you asked for this: if another person sent you the link, close this window.`;
  const facts = [["Model connection", connection] as const, ["For", "all projects"] as const];
  return personPage({ title: `Connect ${connection}?`, text, facts, button: `Continue to ${host}` }, 200, headers);
}

/** Returns the page on which a person reads what they are about to connect, and goes on to the authorization server. */
export function consentPage({ name, host, project, userId }: AskedConsent, headers: Record<string, string>): Response {
  const of = userId === null ? "all runs of this project" : "the runs of this user";
  const text = `The account with which you sign in at ${host} will be used in ${of}. Go on only if you asked for this: if another person sent you the link, close this window.`;
  const holder = userId === null ? (["For", "the whole project"] as const) : (["User", userId] as const);
  const facts = [["Project", project] as const, holder];
  return personPage({ title: `Connect ${name}?`, text, facts, button: `Continue to ${host}` }, 200, headers);
}
