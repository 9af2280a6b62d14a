import { requireValue } from "../../lib/require-value.ts";
import { offsetAfter } from "./offset.ts";

/** A stretch of a run's events: JSON texts, and the offset after the last one. */
interface Stretch {
  messages: string[];
  /** Null if it has none. */
  next: string | null;
}

const event = /^event: (.*)\nid: (.*)\ndata: (.*)$/gm;

/** Converts server-sent events to JSON messages: `{event, id, data}`. */
export function messagesIn(text: string): Stretch {
  const messages: string[] = [];
  let next: string | null = null;
  for (const [, name, id, data] of text.matchAll(event)) {
    messages.push(`{"event":${JSON.stringify(name)},"id":"${id}","data":${data}}`);
    next = offsetAfter(requireValue(id, "The id of an event"));
  }
  return { messages, next };
}
