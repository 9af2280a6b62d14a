import { sha256 } from "../../lib/hash.ts";

/** OTLP messages in the protobuf JSON mapping: 64-bit integers are strings, ids are hexadecimal. */
export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttribute[];
  events: OtlpEvent[];
  links: OtlpLink[];
  status: { code?: number; message?: string };
}

export interface OtlpEvent {
  timeUnixNano: string;
  name: string;
  attributes: OtlpAttribute[];
}

export interface OtlpLink {
  traceId: string;
  spanId: string;
  attributes: OtlpAttribute[];
}

export interface OtlpAttribute {
  key: string;
  value: OtlpValue;
}

export type OtlpValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: OtlpValue[] } };

export const spanKinds = { internal: 1, client: 3 } as const;
export const statusError = 2;

/** Deterministic ids of traces and spans, so that every export has the same ones. */
export const traceIdOf = (rootRunId: string): string => sha256(`trace ${rootRunId}`).slice(0, 32);
export const spanIdOf = (runId: string, id: string): string => sha256(`span ${runId} ${id}`).slice(0, 16);

/** Clamped to 1970, because a decoder refuses the whole request for one invalid time or text. */
export const nanoseconds = (ms: number): string => (ms > 0 ? `${Math.trunc(ms)}000000` : "0");

type Given = string | number | boolean | readonly string[] | { double: number } | null | undefined;

/** Attributes with texts that are already redacted; null and undefined are omitted. */
export const attributes = (attributeValues: Record<string, Given>): OtlpAttribute[] =>
  Object.entries(attributeValues).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key: key.toWellFormed(), value: anyValue(value) }],
  );

function anyValue(value: NonNullable<Given>): OtlpValue {
  if (typeof value === "string") return { stringValue: value.toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return { intValue: String(Math.round(value)) };
  if ("double" in value) return { doubleValue: value.double };
  return { arrayValue: { values: value.map((each) => ({ stringValue: each.toWellFormed() })) } };
}
