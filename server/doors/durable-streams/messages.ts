import { offsetAfter } from "./offset.ts";

/** What a stretch of a run's events comes to: JSON texts, and the place behind the last of them. */
interface Stretch {
  messages: string[];
  /** Null where it has none. */
  next: string | null;
}

const event = /^event: (.*)\nid: (.*)\ndata: (.*)$/gm;

/** Events as the server's own streams have them, as the messages of a stream of JSON: `{event, id, data}`. */
export function messagesIn(text: string): Stretch {
  const messages: string[] = [];
  let next: string | null = null;
  for (const [, name, id, data] of text.matchAll(event)) {
    messages.push(`{"event":${JSON.stringify(name)},"id":"${id}","data":${data}}`);
    next = offsetAfter(id!);
  }
  return { messages, next };
}
