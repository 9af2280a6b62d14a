import { stoppingRun } from "../../domain/error-messages.ts";
import { AppError, type CodedError } from "../../domain/errors.ts";
import type { RunError } from "../../domain/run-event.ts";

/** Returns an error in OpenAI's format. */
export const openAiError = ({ code, type, message, param }: AppError) => ({
  error: { message, type, param, code: code === "resource_not_found" && param === "model" ? "model_not_found" : code },
});

/** Error for a stream that the server ends because it stops. The run continues at the next start. */
export const shuttingDown = () => new AppError("shutting_down", stoppingRun);

export const noModel = (model: string) =>
  new AppError(
    "resource_not_found",
    `The model "${model.slice(0, 100)}" does not exist: expected the id of an agent.`,
    { param: "model" },
  );

/** Returns a run's error as data. Its status tells clients whether to retry. */
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

/** Renames the run's `input[…]` in an error to the client's `messages[…]` or items. */
export function ofMessages(
  error: unknown,
  places: readonly (number | null)[],
  name = "messages",
  fields: Readonly<Record<string, string>> = {},
): unknown {
  if (!(error instanceof AppError) || !error.param?.startsWith("input")) return error;
  const renamed = (text: string): string =>
    text
      .replace(/^(input\[\d+\]\.content\[\d+\]\.)(\w+)/, (_, path, field) => `${path}${fields[field] ?? field}`)
      .replace(/^input(?:\[(\d+)\])?/, (_, place?: string) => {
        if (place === undefined) return name;
        const own = places[Number(place)];
        return own === null ? "previous_response_id" : `${name}[${own ?? place}]`;
      });
  return new AppError(error.code, renamed(error.message), { param: renamed(error.param) });
}
