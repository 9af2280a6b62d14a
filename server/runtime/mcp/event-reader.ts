import { isObject } from "../../lib/json.ts";

/** State of a stream of events: where to resume it, and whether it still owes the reply. */
export type EventReader = ReturnType<typeof createEventReader>;

const retry = { usual_ms: 1000, shortest_ms: 100, longest_ms: 600_000 };

/** Follows the stream of events that answers the request with this id. */
export function createEventReader(requestId: unknown) {
  let [lastId, retry_ms, isAnswered] = ["", retry.usual_ms, false];

  function readEvent(event: string): void {
    const data: string[] = [];
    for (const line of event.split(/\r\n|\n|\r/)) {
      const [, field = "", value = ""] = /^([a-z]+):[ ]?(.*)$/.exec(line) ?? [];
      if (field === "data") data.push(value);
      // An id is sent back in a header.
      else if (field === "id" && isPrintable.test(value)) lastId = value;
      else if (field === "retry" && /^\d{1,9}$/.test(value))
        retry_ms = Math.min(retry.longest_ms, Math.max(retry.shortest_ms, Number(value)));
    }
    isAnswered ||= isReply(data.join("\n"));
  }

  function isReply(json: string): boolean {
    if (!/"(result|error)"/.test(json)) return false;
    try {
      const message: unknown = JSON.parse(json);
      return isObject(message) && message.id === requestId && message.method === undefined;
    } catch {
      return false;
    }
  }

  return {
    /** Reads complete events. */
    push(bytes: Uint8Array): void {
      for (const event of new TextDecoder().decode(bytes).split(/\r\n\r\n|\n\n|\r\r/)) readEvent(event);
    },
    /** Returns the id of the last event, if the stream can be resumed from it; an empty text if not. */
    resumableFrom: (): string => (isAnswered ? "" : lastId),
    /** Milliseconds until the stream may be requested again. */
    retry_ms: () => retry_ms,
  };
}

const isPrintable = /^[\x20-\x7e]{1,1024}$/;
