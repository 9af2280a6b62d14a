import { build } from "../../lib/build-info.ts";
import { semanticConventions } from "./otlp.ts";
import { attributes, type OtlpSpan } from "./otlp-json.ts";
import { rejectedSpanCount, requestMessage, spanMessage } from "./otlp-protobuf.ts";

export const otlpProtocols = ["http/protobuf", "http/json"] as const;
export type OtlpProtocol = (typeof otlpProtocols)[number];

/** Encoding of spans. Each is encoded separately, so that its length is known. */
export interface OtlpEncoding<Written extends string | Uint8Array<ArrayBuffer>> {
  content_type: string;
  span(span: OtlpSpan): Written;
  /** Body of an export request; `more`: resource attributes that the operator sets. */
  request(spans: readonly Written[], more?: Record<string, string>): Written;
  /** Number of spans that the collector rejected, from its response. */
  rejected(answer: Uint8Array): number;
}

const scope = { name: "runnel", version: build.version };
const schemaUrl = `https://opentelemetry.io/schemas/${semanticConventions}`;
const resourceOf = (more: Record<string, string> = {}) =>
  attributes({ "service.name": "runnel", "service.version": build.version, ...more });

export const otlpJson: OtlpEncoding<string> = {
  content_type: "application/json",
  span: (span) => JSON.stringify(span),
  request(spans, more) {
    const head = JSON.stringify({ scope, schemaUrl }).slice(0, -1);
    const resource = JSON.stringify({ attributes: resourceOf(more) });
    return `{"resourceSpans":[{"resource":${resource},"scopeSpans":[${head},"spans":[${spans.join(",")}]}]}]}`;
  },
  rejected(answer) {
    try {
      const rejected = Number(JSON.parse(new TextDecoder().decode(answer)).partialSuccess?.rejectedSpans ?? 0);
      return Number.isSafeInteger(rejected) ? rejected : 0;
    } catch {
      return 0; // Collectors may send an empty body.
    }
  },
};

export const otlpProtobuf: OtlpEncoding<Uint8Array<ArrayBuffer>> = {
  content_type: "application/x-protobuf",
  span: spanMessage,
  request: (spans, more) => requestMessage(spans, { resource: resourceOf(more), scope, schemaUrl }),
  rejected: rejectedSpanCount,
};

const encodings = { "http/protobuf": otlpProtobuf, "http/json": otlpJson };

/** Encoding for a protocol; its `request` accepts only its own encoded spans. */
export const encodingFor = (protocol: OtlpProtocol): OtlpEncoding<string | Uint8Array<ArrayBuffer>> =>
  encodings[protocol];
