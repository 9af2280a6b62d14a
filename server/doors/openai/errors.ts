import { AppError, type CodedError } from "../../core/errors.ts";
import type { RunError } from "../../core/run-event.ts";

/** A refusal as OpenAI's clients read it. */
export const openAiError = ({ code, type, message, param }: AppError) => ({
  error: { message, type, param, code: code === "resource_not_found" && param === "model" ? "model_not_found" : code },
});

/** The server ends what it is saying: the run goes on when it is back. */
export const stopping = () => new AppError("shutting_down", "The server is stopping. The run goes on when it is back.");

export const noModel = (model: string) =>
  new AppError(
    "resource_not_found",
    `The model "${model.slice(0, 100)}" does not exist: expected the id of an agent.`,
    { param: "model" },
  );

/** How a run failed, as data: by its status, clients tell what is worth another try from what is not. */
export const failedRun = ({ code, message }: CodedError) => ({
  status: statuses[code as RunError["code"]] ?? 400,
  body: { error: { message, type: "run_error", param: null, code } },
});

const statuses: Partial<Record<RunError["code"], number>> = {
  model_error: 502,
  model_incomplete: 502,
  model_rate_limited: 429,
  run_timeout: 504,
  internal_error: 500,
  crash_loop: 500,
};

/** The same fault, named by the client's `messages[…]` or items, not by the run's `input[…]`. */
export function ofMessages(error: unknown, places: readonly (number | null)[], name = "messages"): unknown {
  if (!(error instanceof AppError) || !error.param?.startsWith("input")) return error;
  const renamed = (text: string): string =>
    text.replace(/^input(?:\[(\d+)\])?/, (_, place?: string) => {
      if (place === undefined) return name;
      const own = places[Number(place)];
      return own === null ? "previous_response_id" : `${name}[${own ?? place}]`;
    });
  return new AppError(error.code, renamed(error.message), { param: renamed(error.param) });
}
