import type { RunErrorCode } from "../core/errors.ts";
import type { FinishReason, ModelRequest, ModelUsage } from "../core/model-call.ts";
import type { Provider } from "../core/providers.ts";
import type { RequestState } from "../lib/request-state.ts";

export type {
  AssistantPart,
  FinishReason,
  JsonSchema,
  ModelRequest,
  ModelSettings,
  ModelTool,
  ModelUsage,
  PromptImage,
  PromptMessage,
  ScriptEntry,
} from "../core/model-call.ts";

/**
 * What a call yields. `part` numbers the parts of the answer from 0; deltas of one part arrive in order. A stream ends
 * with exactly one `done` or `error`: adapters never throw, also when aborted (then `error` with `aborted: true`).
 */
export type ModelEvent =
  | { type: "delta"; part: number; kind: "output" | "reasoning"; text: string }
  | { type: "tool_call"; part: number; name: string; arguments: string; metadata?: Record<string, unknown> }
  | { type: "metadata"; part: number; metadata: Record<string, unknown> }
  | { type: "done"; finish: FinishReason; usage: ModelUsage }
  | { type: "error"; error: ModelError; usage: ModelUsage };

export interface ModelError {
  code: Extract<
    RunErrorCode,
    "model_error" | "model_incomplete" | "model_rate_limited" | "model_not_available" | "context_length_exceeded"
  >;
  /** A sentence without secrets: no key, no URL with credentials. */
  message: string;
  retryable: boolean;
  /** What the provider asked for by `Retry-After`, in milliseconds. */
  retry_after_ms: number | null;
  aborted: boolean;
  request: RequestState;
  /** The server says that it is not ready, or a proxy says so of it: it is waited for, like one that was not reached. */
  unready?: boolean;
  /** The server refused the form in which the answer was asked for. */
  refuses_format?: boolean;
}

/** Is told of an answer what no event says, as it comes. */
export interface AnswerObserver {
  /** A byte has come: the provider is alive, whatever it says. */
  onByte(): void;
  /** So many more UTF-16 code units of the names and the arguments of tool calls have come. */
  onArguments(length: number): void;
}

export interface Model {
  stream(request: ModelRequest, signal: AbortSignal, observer?: AnswerObserver): AsyncIterable<ModelEvent>;
}

export const unknownUsage: ModelUsage = {
  input_tokens: null,
  output_tokens: null,
  cached_input_tokens: null,
  reasoning_tokens: null,
};

/** How to reach a provider. Plain data: the main thread resolves it, a worker opens it. */
export interface Connection {
  /** Name of the connection: the provider's own name, or what follows `openai_compatible/`. */
  name: string;
  provider: Provider;
  base_url: string | null;
  api_key: string | null;
  /** How many calls its server takes at once; absent: as many as come. */
  max_concurrent?: number;
  /** How long the server may send nothing while it answers; absent: five minutes. */
  idle_timeout_ms?: number;
}
