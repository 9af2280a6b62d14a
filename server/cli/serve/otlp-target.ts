import { requireValue } from "../../lib/require-value.ts";
import { type OtlpProtocol, otlpProtocols } from "../../resources/traces/otlp-encoding.ts";
import type { OtlpTarget } from "../../resources/traces/otlp-post.ts";
import { usageError } from "../commands/exit-code.ts";

export interface OtlpFlags {
  otlpEndpoint?: string;
  otlpCaptureContent?: boolean;
}

type Environment = Record<string, string | undefined>;

/**
 * Returns the target of traces: `--otlp-endpoint`, or else the standard variables of OpenTelemetry exporters; null for
 * none. Headers come only from those variables, because secrets do not belong on a command line.
 */
export function otlpTarget(flags: OtlpFlags, environment: Environment): OtlpTarget | null {
  const url = flags.otlpEndpoint ? tracesOf(flags.otlpEndpoint, "--otlp-endpoint") : standardUrl(environment);
  if (url === null) return null;
  const headers = {
    ...readHeaders(environment, "OTEL_EXPORTER_OTLP_HEADERS"),
    ...readHeaders(environment, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
  };
  const protocol = readProtocol(environment);
  return { url, headers, protocol, resource: readResource(environment), content: flags.otlpCaptureContent ?? false };
}

/** Reads the protocol. `grpc`, which another exporter may need, is ignored. */
function readProtocol(environment: Environment): OtlpProtocol {
  const protocolText = configuredProtocol(environment);
  const protocol = otlpProtocols.find((each) => each === protocolText);
  if (protocol) return protocol;
  if (protocolText === undefined || protocolText === "grpc") return "http/protobuf";
  throw usageError(`OTEL_EXPORTER_OTLP_PROTOCOL takes ${otlpProtocols.join(" or ")}.`);
}

const configuredProtocol = (environment: Environment): string | undefined =>
  environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?.trim() ||
  environment.OTEL_EXPORTER_OTLP_PROTOCOL?.trim() ||
  undefined;

/** Returns the secrets in the target, which the log must not contain. */
export const otlpSecrets = (target: OtlpTarget | null): string[] => Object.values(target?.headers ?? {});

/**
 * Reads the URL from the standard variables, which other programs share: ignored if disabled or for another protocol.
 */
function standardUrl(environment: Environment): string | null {
  const value = (name: string): string | undefined => environment[name]?.trim() || undefined;
  if (value("OTEL_SDK_DISABLED")?.toLowerCase() === "true" || value("OTEL_TRACES_EXPORTER") === "none") return null;
  if (configuredProtocol(environment) === "grpc") return null;
  const traces = value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  if (traces) return checked(traces, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").href;
  const base = value("OTEL_EXPORTER_OTLP_ENDPOINT");
  return base ? tracesOf(base, "OTEL_EXPORTER_OTLP_ENDPOINT") : null;
}

/** Returns the traces URL below a collector's. */
function tracesOf(endpoint: string, name: string): string {
  const url = checked(endpoint, name);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/traces`;
  return url.href;
}

function checked(text: string, name: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageError(`${name} takes an address such as https://collector.example.com:4318.`);
  if (url.username || url.password)
    throw usageError(`${name} takes no user and password: set OTEL_EXPORTER_OTLP_HEADERS instead.`);
  return url;
}

function readHeaders(environment: Environment, name: string): Record<string, string> {
  const headers = new Headers();
  readPairs(environment, name, (key, value) => headers.set(key, value));
  return Object.fromEntries(headers);
}

function readResource(environment: Environment): Record<string, string> {
  const resource = new Map<string, string>();
  readPairs(environment, "OTEL_RESOURCE_ATTRIBUTES", (key, value) => resource.set(key, value));
  const name = environment.OTEL_SERVICE_NAME?.trim();
  if (name) resource.set("service.name", name);
  return Object.fromEntries(resource);
}

/** Reads `name=value` pairs with commas, with URL-encoded values. */
function readPairs(environment: Environment, name: string, set: (key: string, value: string) => void): void {
  const pairs = (environment[name] ?? "").split(",").filter((pair) => pair.trim() !== "");
  for (const pair of pairs) {
    try {
      const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
      set(requireValue(key, "The name"), decodeURIComponent(requireValue(value, "The value")));
    } catch {
      throw usageError(`${name} is no list such as authorization=Bearer%20key,x-tenant=a.`); // The message does not quote the value.
    }
  }
}
