import * as generated from "@opentelemetry/otlp-transformer/build/src/generated/root";
import type { OtlpAttribute, OtlpSpan, OtlpValue } from "../resources/traces/otlp-json.ts";

type Check = (value: unknown, path: string) => void;

const fail = (path: string, expected: string, value: unknown): never => {
  throw new Error(`${path}: expected ${expected}, not ${JSON.stringify(value)}`);
};
const matching =
  (pattern: RegExp, expected: string): Check =>
  (value, path) =>
    void ((typeof value === "string" && pattern.test(value)) || fail(path, expected, value));
const text: Check = (value, path) =>
  void ((typeof value === "string" && value.isWellFormed()) || fail(path, "well-formed text", value));
const hex = (length: number) => matching(new RegExp(`^(?!0+$)[0-9a-f]{${length}}$`), `${length} hexadecimal digits`);
const time = matching(/^(0|\d{19})$/, "nanoseconds as a string");
const integer = matching(/^-?\d{1,19}$/, "a 64-bit integer as a string");
const number: Check = (value, path) => void (Number.isFinite(value) || fail(path, "a number", value));
const boolean: Check = (value, path) => void (typeof value === "boolean" || fail(path, "a boolean", value));
const oneOf =
  (...values: number[]): Check =>
  (value, path) =>
    void (values.includes(value as number) || fail(path, `one of ${values}`, value));

/** Returns a schema with these fields and no others: a parser would silently drop unknown fields. */
const message =
  (fields: Record<string, Check>, required: readonly string[] = []): Check =>
  (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(path, "an object", value);
    for (const name of required) if (!Object.hasOwn(value, name)) fail(path, `a field ${name}`, value);
    for (const [name, each] of Object.entries(value))
      (fields[name] ?? fail(`${path}.${name}`, "nothing", each))(each, `${path}.${name}`);
  };
const repeated =
  (check: Check): Check =>
  (value, path) => {
    if (!Array.isArray(value)) return fail(path, "a list", value);
    for (const [index, each] of value.entries()) check(each, `${path}[${index}]`);
  };

const anyValue: Check = (value, path) => {
  message({
    stringValue: text,
    boolValue: boolean,
    intValue: integer,
    doubleValue: number,
    arrayValue: message({ values: repeated(anyValue) }),
  })(value, path);
  if (Object.keys(value as object).length !== 1) fail(path, "one value", value);
};
const attributes: Check = (value, path) => {
  repeated(message({ key: text, value: anyValue }, ["key", "value"]))(value, path);
  const keys = (value as OtlpAttribute[]).map(({ key }) => key);
  if (new Set(keys).size !== keys.length) fail(path, "each name once", keys);
};

const event = message({ timeUnixNano: time, name: text, attributes }, ["timeUnixNano", "name"]);
const link = message({ traceId: hex(32), spanId: hex(16), attributes }, ["traceId", "spanId"]);
const span = message(
  {
    traceId: hex(32),
    spanId: hex(16),
    parentSpanId: hex(16),
    name: matching(/./, "a name"),
    kind: oneOf(1, 2, 3, 4, 5),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes,
    events: repeated(event),
    links: repeated(link),
    status: message({ code: oneOf(0, 1, 2), message: text }),
  },
  ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"],
);
const scope = message({ name: text, version: text });
const scopeSpans = message({ scope, spans: repeated(span), schemaUrl: matching(/^https:/, "an address") }, ["spans"]);
const request = message(
  { resourceSpans: repeated(message({ resource: message({ attributes }), scopeSpans: repeated(scopeSpans) })) },
  ["resourceSpans"],
);

interface Codec {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array<ArrayBuffer> };
  toObject(message: object, options: object): object;
}

const proto = (generated as unknown as Generated).opentelemetry.proto.collector.trace.v1;

/**
 * Returns a protobuf export as OTLP/JSON, read by the decoder that OpenTelemetry generates from its definitions.
 * Unknown fields are not dropped silently: the message must be the same when it is encoded again.
 */
export function requestIn(bytes: Uint8Array): unknown {
  const message = proto.ExportTraceServiceRequest.decode(bytes);
  if (!Buffer.from(proto.ExportTraceServiceRequest.encode(message).finish()).equals(bytes))
    throw new Error("The message has what the definitions do not know.");
  const request = asJson(proto.ExportTraceServiceRequest.toObject(message, { longs: String, bytes: Uint8Array }));
  for (const { scopeSpans } of (request as Exported).resourceSpans)
    for (const each of scopeSpans) each.spans = (each.spans ?? []).map(withLists);
  return request;
}

/** An empty list is omitted on the wire. */
const emptyLists = { attributes: [], events: [], links: [] };
const withLists = (span: OtlpSpan): OtlpSpan => ({ ...emptyLists, ...span });

/** Ids are hexadecimal in JSON. */
function asJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asJson(each)]));
}

/** Answer that reports this number of rejected spans. */
export const rejecting = (rejectedSpans: number): Response =>
  new Response(proto.ExportTraceServiceResponse.encode({ partialSuccess: { rejectedSpans } }).finish(), {
    headers: { "content-type": "application/x-protobuf" },
  });

type Generated = {
  opentelemetry: {
    proto: { collector: { trace: { v1: Record<"ExportTraceServiceRequest" | "ExportTraceServiceResponse", Codec> } } };
  };
};

interface Exported {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}

/** Returns the spans of an OTLP/JSON export. Validates every field by the protobuf JSON mapping. */
export function spansIn(body: unknown): OtlpSpan[] {
  request(body, "request");
  const spans = (body as Exported).resourceSpans.flatMap((each) => each.scopeSpans.flatMap((one) => one.spans));
  for (const { name, startTimeUnixNano, endTimeUnixNano } of spans)
    if (BigInt(endTimeUnixNano) < BigInt(startTimeUnixNano)) throw new Error(`${name} ends before it begins.`);
  return spans;
}

/** Returns the attributes of a span as plain values. */
export const attributesOf = ({ attributes }: Pick<OtlpSpan, "attributes">): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));

function plain(value: OtlpValue): unknown {
  if ("stringValue" in value) return value.stringValue;
  if ("boolValue" in value) return value.boolValue;
  if ("intValue" in value) return Number(value.intValue);
  return "doubleValue" in value ? value.doubleValue : value.arrayValue.values.map(plain);
}

interface Received {
  at: number;
  headers: Record<string, string>;
  /** Attributes of the sender. */
  resource: Record<string, unknown>;
  spans: OtlpSpan[];
}

/** Starts a collector on loopback. `answers` are returned one after the other, then success. */
export function otlpReceiver(answers: (() => Response | Promise<Response>)[] = [], takes = "application/x-protobuf") {
  const received: Received[] = [];
  const faults: unknown[] = [];
  let heard = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(asked) {
      try {
        if (new URL(asked.url).pathname !== "/v1/traces" || asked.method !== "POST") throw new Error(asked.url);
        const type = asked.headers.get("content-type");
        if (type !== takes) return new Response(`not ${takes}`, { status: 415 }); // Phoenix answers so.
        const headers = Object.fromEntries(asked.headers);
        const body = type === "application/json" ? await asked.json() : requestIn(await asked.bytes());
        const spans = spansIn(body);
        const [{ resource }] = (body as Exported).resourceSpans as [Exported["resourceSpans"][0]];
        received.push({ at: Date.now(), headers, resource: attributesOf(resource), spans });
      } catch (error) {
        faults.push(error);
        return new Response("bad", { status: 400 });
      } finally {
        heard.resolve();
        heard = Promise.withResolvers();
      }
      return (await answers.shift()?.()) ?? new Response("", { headers: { "content-type": takes } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    received,
    faults,
    async requests(count: number): Promise<Received[]> {
      while (received.length < count && faults.length === 0) await heard.promise;
      if (faults.length > 0) throw faults[0];
      return received;
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}
