import { AppError } from "../../core/errors.ts";
import type { ToolAnswer } from "../../core/submit.ts";
import type { Principal } from "../../http/principal.ts";
import type { RunStore } from "../../runs/store.ts";
import type { Door } from "./door.ts";

interface Results {
  request: Request;
  principal: Principal;
  answers: readonly ToolAnswer[];
  /** Where each stands in the request, and what names that place. */
  places: readonly number[];
  param(place: number): string;
  /** The run that has to have asked; null: any. */
  expected: string | null;
}

/** Gives results to the run that asked for them, and returns it. Those that it has already are no fault. */
export async function submitResults(
  { runs, must }: { runs: Pick<RunStore, "askedBy">; must: Door["must"] },
  { request, principal, answers, places, param, expected }: Results,
): Promise<string> {
  const asking = answers.map(({ tool_call_id }) => runs.askedBy(principal, tool_call_id));
  const run_id = expected ?? asking[0];
  const unknown = asking.findIndex((one) => one === null || one !== run_id);
  if (!run_id || unknown !== -1)
    throw new AppError("tool_call_not_found", "No run has asked for this call.", {
      param: param(places[Math.max(0, unknown)]!),
    });
  await must(request, "POST", `/v1/runs/${run_id}/submit_tool_outputs`, { tool_outputs: answers }).catch((error) => {
    // They were given before: what came of them is told once more.
    if (!(error instanceof AppError && error.code === "run_not_awaiting_action")) throw error;
  });
  return run_id;
}
