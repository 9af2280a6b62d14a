import { expect, test } from "bun:test";
import { CliError } from "../commands/exit-code.ts";
import { otlpSecrets, otlpTarget } from "./otlp-target.ts";

const base = "https://collector.example.com:4318";

test("traces are exported nowhere by default", () => {
  expect(otlpTarget({}, {})).toBeNull();
  expect(otlpTarget({}, { OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toBeNull();
});

test("the flag is a collector's URL, and traces go to the standard path below it", () => {
  for (const [otlpEndpoint, url] of [
    [base, `${base}/v1/traces`],
    [`${base}/`, `${base}/v1/traces`],
    [`${base}/otlp/`, `${base}/otlp/v1/traces`],
  ] as const)
    expect(otlpTarget({ otlpEndpoint }, {})).toEqual({
      url,
      headers: {},
      protocol: "http/protobuf",
      resource: {},
      content: false,
    });
  expect(otlpTarget({ otlpEndpoint: base, otlpCaptureContent: true }, {})?.content).toBe(true);
});

test("the standard variables of exporters apply: the one for traces is a complete URL and takes precedence", () => {
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example.com/in" };
  expect(otlpTarget({}, { OTEL_EXPORTER_OTLP_ENDPOINT: base })?.url).toBe(`${base}/v1/traces`);
  expect(otlpTarget({}, { OTEL_EXPORTER_OTLP_ENDPOINT: base, ...own })?.url).toBe("https://traces.example.com/in");
  expect(otlpTarget({ otlpEndpoint: base }, own)?.url).toBe(`${base}/v1/traces`);
});

test.each([{ OTEL_SDK_DISABLED: "true" }, { OTEL_TRACES_EXPORTER: "none" }, { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }])(
  "variables that are meant for other exporters are ignored: %j",
  (more) => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: base, ...more };
    expect(otlpTarget({}, environment)).toBeNull();
    expect(otlpTarget({ otlpEndpoint: base }, environment)).not.toBeNull();
  },
);

test("spans are sent as protobuf unless the standard variables say JSON; the one for traces takes precedence", () => {
  const protocol = (environment: Record<string, string>) => otlpTarget({ otlpEndpoint: base }, environment)?.protocol;
  const [all, traces] = ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"];
  expect(protocol({})).toBe("http/protobuf");
  expect(protocol({ [all]: "http/json" })).toBe("http/json");
  expect(protocol({ [all]: "http/json", [traces]: "http/protobuf" })).toBe("http/protobuf");
  expect(protocol({ [all]: "grpc" })).toBe("http/protobuf"); // Meant for other exporters.
  expect(() => protocol({ [all]: "http/xml" })).toThrow("http/protobuf or http/json");
});

test("headers are decoded, those for traces take precedence, and all of them are secrets", () => {
  const target = otlpTarget(
    { otlpEndpoint: base },
    {
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20canary, x-tenant = a ,",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-tenant=b=c",
    },
  );
  expect(target?.headers).toEqual({ authorization: "Bearer canary", "x-tenant": "b=c" });
  expect(otlpSecrets(target)).toEqual(["Bearer canary", "b=c"]);
});

test("the server has the service name that the operator sets", () => {
  const attributes = { OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=prod,service.name=a" };
  const resourceOf = (environment: Record<string, string>) => otlpTarget({ otlpEndpoint: base }, environment)?.resource;
  expect(resourceOf(attributes)).toEqual({ "deployment.environment.name": "prod", "service.name": "a" });
  expect(resourceOf({ ...attributes, OTEL_SERVICE_NAME: "b" })).toMatchObject({ "service.name": "b" });
});

test("an invalid value prevents the start, and invalid headers are not quoted, because they may contain secrets", () => {
  for (const otlpEndpoint of ["collector:4318", "ftp://a", "x", "https://user:canary@a"])
    expect(() => otlpTarget({ otlpEndpoint }, {})).toThrow(CliError);
  for (const pairs of ["canary", "=canary", "a=%zzcanary", "a b=canary", "a=canary\nb"]) {
    const read = () => otlpTarget({ otlpEndpoint: base }, { OTEL_EXPORTER_OTLP_HEADERS: pairs });
    expect(read).toThrow(CliError);
    expect(read).toThrow(/^((?!canary).)*$/);
  }
});
