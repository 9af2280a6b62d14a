import { isId, type Kind, prefixes, siblingId } from "../../domain/ids.ts";

// A response is a part of a run: from its beginning or from a question to its client, to its end or the next question.
// Its id contains the part, so that no state is kept.

/** The part of a run after a position. */
export interface ResponsePosition {
  run_id: string;
  /** 0: the beginning; else the position of the question whose answer began this part. */
  seq: number;
}

export const responseId = ({ run_id, seq }: ResponsePosition): string =>
  `resp_${digitsOf(run_id)}${seq === 0 ? "" : `_${seq}`}`;

/** Returns null if the id is not a response's. */
export function parseResponseId(id: string): ResponsePosition | null {
  const [, digits, seq] = /^resp_([0-9a-z]{26})(?:_([1-9]\d{0,14}))?$/.exec(id) ?? [];
  const run_id = `${prefixes.run}_${digits}`;
  return digits && isId("run", run_id) ? { run_id, seq: Number(seq ?? 0) } : null;
}

/** Id of an item of a model call; `place` counts the call's items. */
export const answerItemId = (kind: "msg" | "rs", run_id: string, step: number, place: number): string =>
  `${kind}_${digitsOf(run_id)}_${step}_${place}`;

export const callItemId = (run_id: string, call_id: string): string => `fc_${digitsOf(run_id)}_${digitsOf(call_id)}`;

/** Returns the run of an item, or null if the id is not a response item's. */
export function runOfItem(id: string): string | null {
  const [, digits] = /^(?:msg|fc|rs)_([0-9a-z]{26})_/.exec(id) ?? [];
  const run_id = `${prefixes.run}_${digits}`;
  return digits && isId("run", run_id) ? run_id : null;
}

/** Id of an item of a stored message; `place` counts the message's calls. */
export const itemOfMessage = (kind: "msg" | "fc" | "fco", message_id: string, place = 0): string =>
  `${kind}_${digitsOf(message_id)}${place === 0 ? "" : `_${place}`}`;

/** Returns the message of an item, or null if the id is not an item's. */
export function messageOfItem(id: string): string | null {
  const [, digits] = /^(?:msg|fc|fco)_([0-9a-z]{26})(?:_\d{1,3})?$/.exec(id) ?? [];
  return digits ? ownIdOf("message", digits) : null;
}

export const conversationId = (thread_id: string): string => `conv_${digitsOf(thread_id)}`;

/** Returns the thread of a conversation, or null if the id is not a conversation's. */
export function threadOf(id: string): string | null {
  const [, digits] = /^conv_([0-9a-z]{26})$/.exec(id) ?? [];
  return digits ? ownIdOf("thread", digits) : null;
}

function ownIdOf(kind: Kind, digits: string): string | null {
  const id = siblingId(`_${digits}`, kind);
  return isId(kind, id) ? id : null;
}

const digitsOf = (id: string): string => id.slice(id.indexOf("_") + 1);
