import { EventStreamCodec } from "@smithy/eventstream-codec";

const encoder = new TextEncoder();
const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes as Uint8Array),
  (text) => encoder.encode(text),
);

/** Encodes one message of a stream of AWS: an event, or with `exception` its failure. */
export function eventFrame(type: string, payload: unknown, kind: "event" | "exception" = "event"): Uint8Array {
  const text = (value: string) => ({ type: "string" as const, value });
  const headers = {
    [`:${kind}-type`]: text(type),
    ":content-type": text("application/json"),
    ":message-type": text(kind),
  };
  return codec.encode({ headers, body: encoder.encode(JSON.stringify(payload)) });
}
