import { nearestName } from "../lib/nearest-name.ts";

// Messages of errors that several parts of the server return.

/** Message for a name or an id of a thing that does not exist, such as "agent". */
export const noSuch = (thing: string): string => `There is no such ${thing}.`;

/** Names of parameters that were replaced, by the name that they had. */
const replacedNames: Readonly<Record<string, string>> = {
  expires_in: "expires_in_seconds",
  tool: "name",
  duration_min: "duration_ms_min",
  duration_max: "duration_ms_max",
  first_token_min: "first_token_ms_min",
  first_token_max: "first_token_ms_max",
};

/** Message for an unknown parameter; names the one that replaced it, or that was probably meant, of those known here. */
export function unknownParameter(name: string, known: readonly string[]): string {
  const replacement = Object.hasOwn(replacedNames, name) ? replacedNames[name] : undefined;
  if (replacement !== undefined && known.includes(replacement))
    return `${noSuch("parameter")} Its name is \`${replacement}\`.`;
  const meant = nearestName(name, known);
  return meant === null ? noSuch("parameter") : `${noSuch("parameter")} Did you mean \`${meant}\`?`;
}

export const missingParameter = "This parameter is required.";
export const repeatedParameter = "This parameter is given twice.";
export const onlySpaces = "Must have more than spaces.";
export const controlCharacters = "Control characters are not allowed.";
export const timeExpected = "Must be a time such as 2026-11-21T01:20:00.123Z.";
export const dayExpected = "Must be a day such as 2026-11-21, or a time.";
export const booleanExpected = "Must be true or false.";
export const orderExpected = "Must be asc or desc.";
export const unaskedCall = "No run has asked for this call.";
export const callExpected = "A result names its call.";
export const runScopeExpected = 'This needs the scope "run".';
export const otherUserToken = "This client token is for another user.";
export const oneThreadToken = "This client token is for one thread and cannot start others.";
export const threadBusy = "The thread already has an active run.";
export const damagedRecord = "The record of this run is damaged and cannot be read.";
export const recordUnreadable = "The record of the run cannot be read.";
export const responseIncomplete = "The provider's response ended before it was complete.";
export const agentDeleted = "The agent was deleted.";
export const tooManyRequests = "Too many requests.";
export const tooManySignIns = "Too many failed sign-ins. Try again later.";
export const supersededCall = "Nobody waits.";
export const stopping = "The server is stopping.";
export const stoppingBriefly = `${stopping} Try again in a moment.`;
export const stoppingRun = `${stopping} The run goes on when it is back.`;
