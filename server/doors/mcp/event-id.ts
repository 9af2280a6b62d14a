import { parsedJson } from "../../lib/json.ts";
import { invalidRequest, type RequestId } from "./protocol.ts";

/** A tool call whose answer is a run. */
export interface RunCall {
  run_id: string;
  /** The request that is answered when the run is over. */
  id: RequestId;
  progressToken: RequestId | null;
}

/**
 * The id of an event of such an answer. It says all that is needed to go on from there: what comes next is in the run's
 * journal, and nothing of it is kept anywhere else.
 */
export const eventId = ({ run_id, id, progressToken }: RunCall, seq: number): string =>
  Buffer.from(JSON.stringify([run_id, seq, id, progressToken])).toString("base64url");

/** Throws for a text that is no such id. */
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
