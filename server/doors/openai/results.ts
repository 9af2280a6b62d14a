import { AppError, tolerate } from "../../core/errors.ts";
import type { ToolAnswer } from "../../core/submit.ts";
import type { Principal } from "../../http/principal.ts";
import type { RunStore } from "../../runs/store.ts";
import type { Door } from "./door.ts";
import type { InputMessage } from "./request-fields.ts";

/** Results of calls that a request ends with. */
export interface Results {
  answers: ToolAnswer[];
  /** Where each of them stands in the request. */
  places: number[];
}

interface Deps {
  runs: Pick<RunStore, "askedBy" | "standing">;
  must: Door["must"];
}

/**
 * The run that asked for all of these, and its agent. `param` names a place in the request. One whose trace was deleted
 * asks for nothing: of what came of the results nothing is left to tell.
 */
export function askerOf(
  { runs }: Pick<Deps, "runs">,
  principal: Principal,
  { answers, places }: Results,
  param: (place: number) => string,
): { id: string; agent_id: string } {
  const asking = answers.map(({ tool_call_id }) => runs.askedBy(principal, tool_call_id));
  const [id] = asking;
  const unknown = asking.findIndex((one) => one === null || one !== id);
  const asker = id && unknown === -1 ? runs.standing(principal, id) : null;
  if (asker?.summary === null) return asker;
  throw new AppError("tool_call_not_found", "No run has asked for this call.", {
    param: param(places[Math.max(0, unknown)]!),
  });
}

/** Gives results to the run that asked for them. Those that it has already are no fault: what came of them is told again. */
export const submitResults = ({ must }: Pick<Deps, "must">, request: Request, run_id: string, { answers }: Results) =>
  must(request, "POST", `/v1/runs/${run_id}/submit_tool_outputs`, { tool_outputs: answers }).catch(
    tolerate("run_not_awaiting_action"),
  );

/** Ends a run whose client goes on with another agent, if it has not ended already. */
export const handOver = ({ must }: Pick<Deps, "must">, request: Request, run_id: string) =>
  must(request, "POST", `/v1/runs/${run_id}/cancel`, { reason: "The client goes on with another agent." }).catch(
    tolerate("run_already_terminal"),
  );

/**
 * A conversation that was handed over with a result, for the agent that takes it: the last that the user said comes last,
 * since that is what is to be answered. What was done for it so far stands before it.
 */
export function userLast<Place>(
  messages: InputMessage[],
  places: Place[],
): { messages: InputMessage[]; places: Place[] } {
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) return { messages, places };
  const moved = <T>(list: T[]): T[] => [...list.slice(0, last), ...list.slice(last + 1), list[last]!];
  return { messages: moved(messages), places: moved(places) };
}
