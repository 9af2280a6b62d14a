import { expect, test } from "bun:test";
import { rejecting, requestIn, spansIn } from "../../testing/otlp-receiver.ts";
import { otlpJson, otlpProtobuf } from "./otlp-encoding.ts";
import { attributes, nanoseconds, type OtlpSpan } from "./otlp-json.ts";
import { rejectedSpanCount } from "./otlp-protobuf.ts";

const span = (more: Partial<OtlpSpan> = {}): OtlpSpan => ({
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "chat",
  kind: 3,
  startTimeUnixNano: nanoseconds(1_764_000_000_123),
  endTimeUnixNano: nanoseconds(1_764_000_001_456),
  attributes: [],
  events: [],
  links: [],
  status: {},
  ...more,
});

const full = span({
  parentSpanId: "00f067aa0ba902b7",
  attributes: attributes({
    text: "Grüße, 世界 🌍",
    empty: "",
    long: "x".repeat(70_000),
    yes: true,
    no: false,
    zero: 0,
    negative: -1,
    large: Number.MAX_SAFE_INTEGER,
    third: { double: 1 / 3 },
    nought: { double: 0 },
    list: ["a", "", "b"],
    none: [],
  }),
  events: [{ timeUnixNano: nanoseconds(1_764_000_000_200), name: "runnel.retry", attributes: attributes({ n: 2 }) }],
  links: [{ traceId: "f".repeat(32), spanId: "e".repeat(16), attributes: attributes({ "runnel.link": "replay_of" }) }],
  status: { code: 2, message: "It failed." },
});

// Decoded by the code that OpenTelemetry generates from its definitions, independent of our understanding of them.
test("the protobuf encoding has the same content as the JSON one, to the last field", () => {
  for (const spans of [
    [],
    [span()],
    [span(), full],
    [span({ status: { code: 2 } }), span({ startTimeUnixNano: "0" })],
  ]) {
    const more = { "service.name": "b", "deployment.environment.name": "prod" };
    const asJson = JSON.parse(otlpJson.request(spans.map(otlpJson.span), more));
    const asProtobuf = requestIn(otlpProtobuf.request(spans.map(otlpProtobuf.span), more)) as typeof asJson;
    expect(withoutEmpty(asProtobuf)).toEqual(withoutEmpty(asJson));
    if (spans.length > 0) expect(spansIn(asProtobuf)).toHaveLength(spans.length);
  }
});

/** An empty list and a missing one are the same message. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, each]) => !Array.isArray(each) || each.length > 0);
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutEmpty(each)]));
}

test("the number of rejected spans is read from the collector's answer, and an invalid answer gives none", async () => {
  for (const count of [0, 2, 70_000]) expect(rejectedSpanCount(await rejecting(count).bytes())).toBe(count);
  for (const bytes of [[], [10], [10, 200], [10, 2, 8], [255, 255, 255], [0x7b, 0x7d], [13, 1, 2, 3, 4], [11]])
    expect(rejectedSpanCount(Uint8Array.from(bytes))).toBe(0);
});
