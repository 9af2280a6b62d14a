import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { OtlpAttribute, OtlpEvent, OtlpLink, OtlpSpan, OtlpValue } from "./otlp-json.ts";

// Field numbers and types of opentelemetry/proto/{collector/trace,trace,resource,common}/v1, OTLP 1.x. OpenTelemetry's
// own package encodes whole requests of its SDK's spans only, and writes whole doubles as integers.
type Bytes = Uint8Array<ArrayBuffer>;

/** Encodes a span as a protobuf message. */
export function spanMessage(span: OtlpSpan): Bytes {
  const writer = ids(new BinaryWriter(), span);
  if (span.parentSpanId !== undefined) hex(writer, 4, span.parentSpanId);
  text(writer, 5, span.name);
  writer.tag(6, WireType.Varint).int32(span.kind);
  writer.tag(7, WireType.Bit64).fixed64(span.startTimeUnixNano);
  writer.tag(8, WireType.Bit64).fixed64(span.endTimeUnixNano);
  keyValues(writer, 9, span.attributes);
  for (const event of span.events) nested(writer, 11, () => eventMessage(writer, event));
  for (const link of span.links) nested(writer, 13, () => keyValues(ids(writer, link), 4, link.attributes));
  nested(writer, 15, () => statusMessage(writer, span.status));
  return writer.finish();
}

/** Encodes an export request of encoded spans. */
export function requestMessage(
  spans: readonly Uint8Array[],
  {
    resource,
    scope,
    schemaUrl,
  }: { resource: OtlpAttribute[]; scope: { name: string; version: string }; schemaUrl: string },
): Bytes {
  const writer = new BinaryWriter();
  nested(writer, 1, () => {
    nested(writer, 1, () => keyValues(writer, 1, resource));
    nested(writer, 2, () => {
      nested(writer, 1, () => text(text(writer, 1, scope.name), 2, scope.version));
      for (const span of spans) writer.tag(2, WireType.LengthDelimited).bytes(span);
      text(writer, 3, schemaUrl);
    });
  });
  return writer.finish();
}

/** Returns `partial_success.rejected_spans` of a response; 0 if absent or malformed. */
export function rejectedSpanCount(answer: Uint8Array): number {
  try {
    const partial = lastField(answer, WireType.LengthDelimited, (reader) => reader.bytes());
    const rejected = partial && lastField(partial, WireType.Varint, (reader) => Number(reader.uint64()));
    return Number.isSafeInteger(rejected) ? Number(rejected) : 0;
  } catch {
    return 0;
  }
}

/** Returns the last value of field 1, or null if there is none of this type. */
function lastField<T>(bytes: Uint8Array, type: WireType, read: (reader: BinaryReader) => T): T | null {
  const reader = new BinaryReader(bytes);
  let found: T | null = null;
  while (reader.pos < reader.len) {
    const [field, actual] = reader.tag();
    if (field === 1 && actual === type) found = read(reader);
    else reader.skip(actual, field);
  }
  return found;
}

function eventMessage(writer: BinaryWriter, { timeUnixNano, name, attributes }: OtlpEvent): void {
  writer.tag(1, WireType.Bit64).fixed64(timeUnixNano);
  keyValues(text(writer, 2, name), 3, attributes);
}

function statusMessage(writer: BinaryWriter, { code, message }: OtlpSpan["status"]): void {
  if (message !== undefined) text(writer, 2, message);
  if (code !== undefined) writer.tag(3, WireType.Varint).int32(code);
}

function keyValues(writer: BinaryWriter, field: number, attributes: readonly OtlpAttribute[]): void {
  for (const { key, value } of attributes)
    nested(writer, field, () => nested(text(writer, 1, key), 2, () => anyValue(writer, value)));
}

/** Writes also empty and zero values, because the field tells the type. */
function anyValue(writer: BinaryWriter, value: OtlpValue): void {
  if ("stringValue" in value) text(writer, 1, value.stringValue);
  else if ("boolValue" in value) writer.tag(2, WireType.Varint).bool(value.boolValue);
  else if ("intValue" in value) writer.tag(3, WireType.Varint).int64(value.intValue);
  else if ("doubleValue" in value) writer.tag(4, WireType.Bit64).double(value.doubleValue);
  else
    nested(writer, 5, () => {
      for (const each of value.arrayValue.values) nested(writer, 1, () => anyValue(writer, each));
    });
}

const ids = (writer: BinaryWriter, { traceId, spanId }: Pick<OtlpLink, "traceId" | "spanId">): BinaryWriter =>
  hex(hex(writer, 1, traceId), 2, spanId);

const hex = (writer: BinaryWriter, field: number, digits: string): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).bytes(Buffer.from(digits, "hex"));

const text = (writer: BinaryWriter, field: number, content: string): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).string(content);

function nested(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}
