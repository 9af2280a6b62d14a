import { logLevels } from "../../domain/run-event.ts";
import { isObject } from "../../lib/json.ts";
import { plainText } from "./plain-text.ts";

/** Progress of a call, as its server reports it. */
export interface McpProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** Log message of a server during a call. */
export interface McpLog {
  level: (typeof logLevels)[number];
  message: string;
}

const messageMost = 16_384;

/** Drops a longer text. It is not cut here, because secrets are to be hidden in it first. */
const shown = (text: string): string => (text.length > messageMost ? "" : plainText(text).trim());

/**
 * Returns a reader of one call's progress notifications. It returns null for one that goes back, which the protocol
 * forbids, and leaves out a total that is none.
 */
export function createProgressReader() {
  let last = Number.NEGATIVE_INFINITY;
  return function read({ progress, total, message }: McpProgress): McpProgress | null {
    if (!Number.isFinite(progress) || progress < last) return null;
    last = progress;
    const text = message === undefined ? "" : shown(message);
    return {
      progress,
      ...(total !== undefined && Number.isFinite(total) && total > 0 && { total }),
      ...(text !== "" && { message: text }),
    };
  };
}

/** Reads the parameters of `notifications/message`. Returns null for debugging, and for anything else than a message. */
export function readLog(params: unknown): McpLog | null {
  if (!isObject(params)) return null;
  const { level, data } = params;
  const known = logLevels.find((each) => each === level);
  if (known === undefined || known === "debug") return null;
  const message = shown(typeof data === "string" ? data : (JSON.stringify(data) ?? ""));
  return message === "" ? null : { level: known, message };
}
