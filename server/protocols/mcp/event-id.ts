import { parsedJson } from "../../lib/json.ts";
import { invalidRequest, type RequestId } from "./protocol.ts";

/** A tool call that a run carries out. */
export interface RunCall {
  run_id: string;
  /** Request that gets the result when the run is over. */
  id: RequestId;
  progressToken: RequestId | null;
}

/**
 * Id of an event of such a response. It contains all that is needed to resume: the rest is in the run's journal, so no
 * session state is kept.
 */
export const eventId = ({ run_id, id, progressToken }: RunCall, seq: number): string =>
  Buffer.from(JSON.stringify([run_id, seq, id, progressToken])).toString("base64url");

/** Throws if the text is not such an id. */
export function readEventId(text: string): RunCall & { seq: number } {
  const [run_id, seq, id, progressToken] = parsed(text);
  const isToken = progressToken === null || isId(progressToken);
  if (typeof run_id !== "string" || !Number.isSafeInteger(seq) || Number(seq) < 0 || !isId(id) || !isToken)
    throw invalidRequest("Last-Event-ID is not the id of an event.");
  return { run_id, id, progressToken: progressToken as RequestId | null, seq: seq as number };
}

const isId = (value: unknown): value is RequestId => typeof value === "string" || typeof value === "number";

function parsed(text: string): unknown[] {
  const value = parsedJson(Buffer.from(text, "base64url").toString("utf8"));
  return Array.isArray(value) ? value : [];
}
