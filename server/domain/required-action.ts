import { requireValue } from "../lib/require-value.ts";
import type { CallAuthorization, RequiredAction, RequiredCall, RunEvent } from "./run-event.ts";
import type { ToolCall } from "./run-state.ts";
import { timestamp } from "./time.ts";

/**
 * Returns the required action of a waiting run, including that of its child runs, as it is journaled: all calls are in
 * one list. `expiresAt` in milliseconds.
 */
export const requiredAction = (calls: readonly ToolCall[], expiresAt: number): RequiredAction => ({
  type: "submit_tool_outputs",
  submit_tool_outputs: { tool_calls: calls.flatMap((call) => requiredCalls(call, timestamp(expiresAt))) },
});

/** Returns a required call for clients; the journal keeps it as `id` and `tool`. */
export const requiredCallObject = ({ id, tool_id, tool, authorization: _, ...rest }: RequiredCall) => ({
  tool_call_id: id,
  tool_id,
  name: tool,
  ...rest,
});
export type RequiredCallObject = ReturnType<typeof requiredCallObject>;

function requiredCalls(
  { id, tool_id, tool, arguments: args, needs, authorization, elicitation, child }: ToolCall,
  expires_at: string,
): RequiredCall[] {
  if (child && child.waits_for.length > 0) return child.waits_for;
  const need = requireValue(needs, "The need of an open call");
  const question = elicitation && { elicitation };
  const consent = authorization && { authorization };
  return [{ id, tool_id, tool, arguments: args, needs: need, ...question, expires_at, ...consent }];
}

/** Returns the event for a call that cannot be made without a user's consent; it keeps its place and its arguments. */
export function requestAuthorization(call: ToolCall, authorization: CallAuthorization): RunEvent {
  const { id, step_index, turn_index, tool_id, tool, type, arguments: args } = call;
  const request = { id, step_index, turn_index, tool_id, tool, type, arguments: args };
  return { type: "tool.requested", call: { ...request, needs: "authorization", authorization } };
}

/** A consent that a run waits for, as clients see it. */
export interface RequiredAuthorization extends CallAuthorization {
  /** Where the user gives it. Null for readers that may not answer the run's calls. */
  url: string | null;
  expires_at: string;
  /** The calls that wait for it. */
  tool_calls: RequiredCallObject[];
}

/** Calls that wait for an answer of the client or a person; empty where only a consent is missing. */
interface Submission {
  submit_tool_outputs: { tool_calls: RequiredCallObject[] };
}

/** The required action of a run as clients see it. */
export type RequiredActionObject =
  | ({ type: "submit_tool_outputs"; authorizations?: RequiredAuthorization[] } & Submission)
  | ({ type: "authorization"; authorizations: RequiredAuthorization[] } & RequiredAuthorization & Submission);

/** Returns the address at which the user of a run gives a consent; null if the reader may not have it. */
export type AuthorizationLink = (runId: string, authorization: CallAuthorization) => string | null;

/** Returns a required action for clients, without addresses. An entry refers to a call by `tool_call_id`. */
export function requiredActionObject({ submit_tool_outputs }: RequiredAction): RequiredActionObject {
  const { tool_calls } = submit_tool_outputs;
  const authorizations = authorizationsOf(tool_calls);
  const [first] = authorizations;
  const answerable = {
    submit_tool_outputs: { tool_calls: tool_calls.filter((call) => !call.authorization).map(requiredCallObject) },
  };
  if (!first) return { type: "submit_tool_outputs", ...answerable };
  return answerable.submit_tool_outputs.tool_calls.length > 0
    ? { type: "submit_tool_outputs", ...answerable, authorizations }
    : { type: "authorization", ...first, authorizations, ...answerable };
}

/** Groups calls by the consent that they wait for: one consent is enough for all of them. */
function authorizationsOf(calls: readonly RequiredCall[]): RequiredAuthorization[] {
  const all = new Map<string, RequiredAuthorization>();
  for (const call of calls) {
    const { authorization } = call;
    if (!authorization) continue;
    const key = JSON.stringify([authorization.oauth_client_id, authorization.user_id]);
    const { expires_at } = call;
    const one = all.get(key) ?? { ...authorization, url: null, expires_at, tool_calls: [] };
    one.tool_calls.push(requiredCallObject(call));
    if (expires_at < one.expires_at) one.expires_at = expires_at;
    all.set(key, one);
  }
  return [...all.values()];
}

/** Returns the action of a run with the addresses at which its user consents. */
export function withAuthorizationLinks(
  action: RequiredActionObject,
  runId: string,
  link: AuthorizationLink,
): RequiredActionObject {
  if (!action.authorizations) return action;
  const authorizations = action.authorizations.map((one) => ({ ...one, url: linkOf(one, runId, link) }));
  if (action.type === "submit_tool_outputs") return { ...action, authorizations };
  return { ...action, url: linkOf(action, runId, link), authorizations };
}

/** The run that made the call is the one that waits: a child run, or the run itself. */
const linkOf = (required: RequiredAuthorization, runId: string, link: AuthorizationLink): string | null =>
  link(required.tool_calls[0]?.run_id ?? runId, required);

/** Returns the action without the arguments of its calls, which may be long. */
export function withoutCallArguments(action: RequiredActionObject): RequiredActionObject {
  const bare = (calls: RequiredCallObject[]) => calls.map((call) => ({ ...call, arguments: {} }));
  const { submit_tool_outputs, authorizations } = action;
  const asked = { submit_tool_outputs: { tool_calls: bare(submit_tool_outputs.tool_calls) } };
  const all = authorizations?.map((one) => ({ ...one, tool_calls: bare(one.tool_calls) }));
  if (action.type === "submit_tool_outputs") return { ...action, ...asked, ...(all && { authorizations: all }) };
  return { ...action, ...asked, tool_calls: bare(action.tool_calls), authorizations: all ?? [] };
}
