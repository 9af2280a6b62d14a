import type { OtlpAttribute, OtlpEvent, OtlpLink, OtlpSpan, OtlpValue } from "./otlp-json.ts";

// Field numbers and types of opentelemetry/proto/{collector/trace,trace,resource,common}/v1, OTLP 1.x.
type Bytes = Uint8Array<ArrayBuffer>;

/** Encodes a span as a protobuf message. */
export const spanMessage = (span: OtlpSpan): Bytes =>
  message([
    hex(1, span.traceId),
    hex(2, span.spanId),
    ...(span.parentSpanId === undefined ? [] : [hex(4, span.parentSpanId)]),
    text(5, span.name),
    integer(6, BigInt(span.kind)),
    fixed64(7, BigInt(span.startTimeUnixNano)),
    fixed64(8, BigInt(span.endTimeUnixNano)),
    ...keyValues(9, span.attributes),
    ...span.events.map((event) => nested(11, eventMessage(event))),
    ...span.links.map((link) => nested(13, linkMessage(link))),
    nested(15, statusMessage(span.status)),
  ]);

/** Encodes an export request of encoded spans. */
export function requestMessage(
  spans: readonly Uint8Array[],
  {
    resource,
    scope,
    schemaUrl,
  }: { resource: OtlpAttribute[]; scope: { name: string; version: string }; schemaUrl: string },
): Bytes {
  const scopeSpans = [
    nested(1, message([text(1, scope.name), text(2, scope.version)])),
    ...spans.map((span) => nested(2, span)),
    text(3, schemaUrl),
  ];
  const resourceSpans = [nested(1, message(keyValues(1, resource))), nested(2, message(scopeSpans))];
  return message([nested(1, message(resourceSpans))]);
}

/** Returns `partial_success.rejected_spans` of a response; 0 if absent or malformed. */
export function rejectedIn(answer: Uint8Array): number {
  const partial = fieldIn(answer, 1);
  const rejected = partial instanceof Uint8Array ? fieldIn(partial, 1) : null;
  return typeof rejected === "bigint" && rejected <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(rejected) : 0;
}

const eventMessage = ({ timeUnixNano, name, attributes }: OtlpEvent): Bytes =>
  message([fixed64(1, BigInt(timeUnixNano)), text(2, name), ...keyValues(3, attributes)]);

const linkMessage = ({ traceId, spanId, attributes }: OtlpLink): Bytes =>
  message([hex(1, traceId), hex(2, spanId), ...keyValues(4, attributes)]);

const statusMessage = ({ code, message: said }: OtlpSpan["status"]): Bytes =>
  message([...(said === undefined ? [] : [text(2, said)]), ...(code === undefined ? [] : [integer(3, BigInt(code))])]);

const keyValues = (field: number, attributes: readonly OtlpAttribute[]): Bytes[] =>
  attributes.map(({ key, value }) => nested(field, message([text(1, key), nested(2, anyValue(value))])));

/** Writes also empty and zero values, because the field tells the type. */
function anyValue(value: OtlpValue): Bytes {
  if ("stringValue" in value) return text(1, value.stringValue);
  if ("boolValue" in value) return integer(2, value.boolValue ? 1n : 0n);
  if ("intValue" in value) return integer(3, BigInt(value.intValue));
  if ("doubleValue" in value) return double(4, value.doubleValue);
  return nested(5, message(value.arrayValue.values.map((each) => nested(1, anyValue(each)))));
}

const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const message = (parts: readonly Uint8Array[]): Bytes => new Uint8Array(Buffer.concat(parts));

const head = (field: number, type: number): Bytes => varint(BigInt(field * 8 + type));

const nested = (field: number, content: Uint8Array): Bytes =>
  message([head(field, wire.bytes), varint(BigInt(content.length)), content]);

const text = (field: number, content: string): Bytes => nested(field, Buffer.from(content));

const hex = (field: number, digits: string): Bytes => nested(field, Buffer.from(digits, "hex"));

const integer = (field: number, value: bigint): Bytes =>
  message([head(field, wire.varint), varint(BigInt.asUintN(64, value))]);

function fixed64(field: number, value: bigint): Bytes {
  const content = new DataView(new ArrayBuffer(8));
  content.setBigUint64(0, value, true);
  return message([head(field, wire.fixed64), new Uint8Array(content.buffer)]);
}

function double(field: number, value: number): Bytes {
  const content = new DataView(new ArrayBuffer(8));
  content.setFloat64(0, value, true);
  return message([head(field, wire.fixed64), new Uint8Array(content.buffer)]);
}

/** Seven bits per byte, lowest first; the eighth is set in all but the last. */
function varint(value: bigint): Bytes {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    if (rest < 128n) return Uint8Array.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

/** Last value of a field, a number or nested bytes; null if absent or the message is malformed. */
function fieldIn(bytes: Uint8Array, field: number): bigint | Uint8Array | null {
  let found: bigint | Uint8Array | null = null;
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n && at < bytes.length; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError("The message breaks off.");
  };
  const skip = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new RangeError("The message breaks off.");
    at += length;
    return bytes.subarray(at - length, at);
  };
  function readValue(type: number): bigint | Uint8Array {
    if (type === wire.varint) return next();
    if (type === wire.bytes) return skip(Number(next()));
    if (type === wire.fixed64) return skip(8);
    if (type === wire.fixed32) return skip(4);
    throw new RangeError("There is no such type.");
  }
  try {
    while (at < bytes.length) {
      const tag = Number(next());
      const value = readValue(tag & 7);
      if (tag >> 3 === field) found = value;
    }
    return found;
  } catch {
    return null;
  }
}
