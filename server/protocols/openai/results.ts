import { unaskedCall } from "../../domain/error-messages.ts";
import { AppError, tolerate } from "../../domain/errors.ts";
import type { Principal } from "../../http/principal.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { RunStore } from "../../runs/store.ts";
import type { ApiCalls } from "./api-calls.ts";
import type { InputMessage, resultOf } from "./request-fields.ts";

/** Result of a call, as the API takes it. */
export type SentResult = { tool_call_id: string } & ReturnType<typeof resultOf>;

/** Results of calls at the end of a request. */
export interface Results {
  answers: SentResult[];
  /** Index of each in the request. */
  places: number[];
}

type Must = ApiCalls["must"];

/**
 * Returns the run that asked for all of these, and its agent. `param` returns the path of a result in the request.
 * Ignores runs whose trace was deleted, because no result is left to stream.
 */
export function askingRunOf(
  runs: RunStore,
  principal: Principal,
  { answers, places }: Results,
  param: (place: number) => string,
): { id: string; agent_id: string } {
  const askingRunIds = answers.map(({ tool_call_id }) => runs.askedBy(principal, tool_call_id));
  const [id] = askingRunIds;
  const unknown = askingRunIds.findIndex((one) => one === null || one !== id);
  const askingRun = id && unknown === -1 ? runs.standing(principal, id) : null;
  if (askingRun?.summary === null) return askingRun;
  throw new AppError("tool_call_not_found", unaskedCall, {
    param: param(requireValue(places[Math.max(0, unknown)], "The place of a result")),
  });
}

/** Submits results to the run that asked. Ignores repeated ones, whose outcome can be read again. */
export const submitResults = (must: Must, request: Request, run_id: string, { answers }: Results) =>
  must(request, "POST", `/v1/runs/${run_id}/submit_tool_outputs`, { tool_outputs: answers }).catch(
    tolerate("run_not_awaiting_action"),
  );

/** Cancels a run whose client continues with another agent. Ignores that it has already ended. */
export const handOver = (must: Must, request: Request, run_id: string) =>
  must(request, "POST", `/v1/runs/${run_id}/cancel`, { reason: "The client goes on with another agent." }).catch(
    tolerate("run_already_terminal"),
  );

/**
 * Reorders a conversation handed over with a result, so that the user's last message, which is to be answered, comes
 * last. The work done for it so far comes before it.
 */
export function userLast<Place>(
  messages: InputMessage[],
  places: Place[],
): { messages: InputMessage[]; places: Place[] } {
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) return { messages, places };
  const moveToEnd = <T>(list: T[]): T[] => [
    ...list.slice(0, last),
    ...list.slice(last + 1),
    ...list.slice(last, last + 1),
  ];
  return { messages: moveToEnd(messages), places: moveToEnd(places) };
}
