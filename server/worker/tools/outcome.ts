import type { FileFacts, RequiredCall, RunUsage, ToolError } from "../../core/run-event.ts";
import type { RequestState } from "../../lib/request-state.ts";

/** What running a tool came to; `attempts` counts the requests that were made. */
export type ToolOutcome = Done | { later: true; attempts: number } | { child: "waiting"; calls: RequiredCall[] };

/** A result, or an error that the model reads. */
export type Done = ({ output: unknown; error: null } | { output: null; error: ToolError; request: RequestState }) & {
  attempts: number;
  files?: FileFacts[];
  /** What a child run cost, or the models that a search asked. */
  usage?: RunUsage;
};

export const failed = (
  code: string,
  message: string,
  attempts = 1,
  request: RequestState = attempts === 0 ? "not_sent" : "answered",
): Done => ({ output: null, error: { code, message }, request, attempts });
