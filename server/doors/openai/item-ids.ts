import { isId, type Kind, prefixes, siblingId } from "../../core/ids.ts";

// A response is a stretch of a run: from its beginning, or from where its client was asked for something, to where it ends
// or asks again. Its id says which, so that nothing else has to.

/** The stretch of a run behind this place. */
export interface Stretch {
  run_id: string;
  /** 0 is the beginning; else where the run asked its client for what began this stretch. */
  seq: number;
}

export const responseId = ({ run_id, seq }: Stretch): string => `resp_${digitsOf(run_id)}${seq === 0 ? "" : `_${seq}`}`;

/** Null for what is no id of a response. */
export function stretchOf(id: string): Stretch | null {
  const [, digits, seq] = /^resp_([0-9a-z]{26})(?:_([1-9]\d{0,14}))?$/.exec(id) ?? [];
  const run_id = `${prefixes.run}_${digits}`;
  return digits && isId("run", run_id) ? { run_id, seq: Number(seq ?? 0) } : null;
}

/** Of what a model call says; `place` counts the items of the call. */
export const saidId = (kind: "msg" | "rs", run_id: string, step: number, place: number): string =>
  `${kind}_${digitsOf(run_id)}_${step}_${place}`;

export const callItemId = (run_id: string, call_id: string): string => `fc_${digitsOf(run_id)}_${digitsOf(call_id)}`;

/** The run in which an item came up; null for ids that no response has had. */
export function runOfItem(id: string): string | null {
  const [, digits] = /^(?:msg|fc|rs)_([0-9a-z]{26})_/.exec(id) ?? [];
  const run_id = `${prefixes.run}_${digits}`;
  return digits && isId("run", run_id) ? run_id : null;
}

/** An item of a message of a thread or an input; `place` counts the calls of the message. */
export const itemOfMessage = (kind: "msg" | "fc" | "fco", message_id: string, place = 0): string =>
  `${kind}_${digitsOf(message_id)}${place === 0 ? "" : `_${place}`}`;

/** The message that an item is of; null for what is no such id. */
export function messageOfItem(id: string): string | null {
  const [, digits] = /^(?:msg|fc|fco)_([0-9a-z]{26})(?:_\d{1,3})?$/.exec(id) ?? [];
  return digits ? ownIdOf("message", digits) : null;
}

export const conversationId = (thread_id: string): string => `conv_${digitsOf(thread_id)}`;

/** The thread of a conversation; null for what is no such id. */
export function threadOf(id: string): string | null {
  const [, digits] = /^conv_([0-9a-z]{26})$/.exec(id) ?? [];
  return digits ? ownIdOf("thread", digits) : null;
}

function ownIdOf(kind: Kind, digits: string): string | null {
  const id = siblingId(`_${digits}`, kind);
  return isId(kind, id) ? id : null;
}

const digitsOf = (id: string): string => id.slice(id.indexOf("_") + 1);
