import type { FinishReason, ModelError, ModelUsage } from "../../model.ts";

/** An answer of a model server, byte by byte, and the end that a caller expects. */
export interface ServerAnswer {
  title: string;
  status?: number;
  /** By default a stream of events. */
  headers?: Record<string, string>;
  chunks: readonly (string | Uint8Array)[];
  /** True if the connection breaks after the last chunk. */
  breaks?: boolean;
  end: Expected;
}

/** End of an answer; absent fields are not compared, except that there is no error and no call. */
export interface Expected {
  text?: string;
  reasoning?: string;
  /** Names and arguments of the calls, in order. */
  calls?: readonly (readonly [string, string])[];
  /** Words of the error that the model reads in place of a result; absent if the tools run. */
  refused?: string;
  finish?: FinishReason;
  usage?: Partial<ModelUsage>;
  error?: Partial<Omit<ModelError, "message">> & { says: string };
}

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "stub" };
export const counts = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
export const counted = { input_tokens: 20, output_tokens: 5 };

export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
export const chunk = (more: object): string => event({ ...head, ...more });
export const delta = (fields: object, finish_reason: string | null = null, more: object = {}): string =>
  chunk({ choices: [{ index: 0, delta: fields, finish_reason, ...more }] });
export const text = (content: string): string => delta({ role: "assistant", content });
export const calls = (...tool_calls: object[]): string => delta({ tool_calls });
/** A piece of a call; an undefined name or arguments are left out. */
export const piece = (fields: object, name?: string, args?: unknown): object => ({
  ...fields,
  type: "function",
  function: { name, arguments: args },
});
export const usage = chunk({ choices: [], usage: counts });
export const finish = (reason: string): string => delta({}, reason);
export const done = "data: [DONE]\n\n";
export const ending = (reason = "stop"): string[] => [finish(reason), usage, done];

/** A completion that is not streamed. */
export const whole = (message: object, finish_reason = "stop"): string =>
  JSON.stringify({
    id: "x",
    object: "chat.completion",
    created: 1,
    model: "stub",
    choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
    usage: counts,
  });

/** Headers of a JSON response. */
export const json = { "content-type": "application/json" };
