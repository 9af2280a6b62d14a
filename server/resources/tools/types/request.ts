import { Type } from "@sinclair/typebox";
import type { HttpTool } from "../../../domain/agent-snapshot.ts";
import * as t from "../../../lib/schema.ts";
import {
  addressField,
  authField,
  authResponse,
  changedAuth,
  headersField,
  masked,
  showAuth,
  timeoutField,
  usualTimeout_ms,
} from "./fields.ts";
import { type Definition, type HttpDefinition, requireSettings, type Sends, type ToolInput } from "./tool-kind.ts";

// Common parts of http and webhook tools: a signed request to the client's own address.

export const requestFields = {
  url: t.about(
    "The URL that is called. For an HTTP tool, it may contain arguments as `{name}` in path and query.",
    addressField,
  ),
  headers: headersField,
  auth: authField,
  timeout_ms: timeoutField,
  retries: t.about("How often a failed attempt is retried.", Type.Integer({ minimum: 0, maximum: 5 })),
  idempotent: t.about("Whether a call is safe to repeat.", Type.Boolean()),
};
export const requestResponseFields = {
  url: t.text,
  headers: t.about("Headers of every call; values are shown as `********`.", t.map(t.text)),
  auth: authResponse,
  timeout_ms: t.integer,
  retries: t.integer,
  idempotent: t.boolean,
  signing_secret: t.about("The secret that signs the calls, shown only once.", t.optional(t.text)),
};

const defaults = {
  url: "",
  method: "POST",
  timeout_ms: usualTimeout_ms,
  retries: 0,
  response: "json",
  idempotent: null,
  header_names: [],
} as const;

export function changeRequest(input: ToolInput, before: Definition | null): { http: HttpDefinition } {
  const base: HttpDefinition = before?.http ?? { ...defaults, header_names: [] };
  return {
    http: {
      url: input.url ?? base.url,
      method: input.method ?? base.method,
      timeout_ms: input.timeout_ms ?? base.timeout_ms,
      retries: input.retries ?? base.retries,
      response: input.response ?? base.response,
      idempotent: input.idempotent ?? base.idempotent,
      header_names: input.headers ? Object.keys(input.headers) : base.header_names,
      ...present("query_names", input.query ? Object.keys(input.query) : base.query_names),
      ...present("request", input.request === undefined ? base.request : (input.request ?? undefined)),
      ...present("openapi", input.openapi ?? base.openapi),
      ...present(
        "output_fields",
        input.output_fields === undefined ? base.output_fields : (input.output_fields ?? undefined),
      ),
      ...present("failures", input.failures === undefined ? base.failures : (input.failures ?? undefined)),
      ...changedAuth(input, before?.http),
    },
  };
}

/** Absent where there is nothing, so that tools without these fields are stored as ever. */
const present = <Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value } =>
  value === undefined || (Array.isArray(value) && value.length === 0)
    ? {}
    : ({ [name]: value } as { [K in Name]?: Value });

export function showRequest(definition: Definition) {
  const http = requireSettings(definition.http);
  const { url, timeout_ms, retries, header_names } = http;
  return {
    url,
    headers: masked(header_names),
    auth: showAuth(http),
    timeout_ms,
    retries,
    idempotent: isIdempotent(http),
  };
}

export function callOfRequest(definition: Definition, sealed: string): Pick<HttpTool, "idempotent" | "http"> {
  const http = requireSettings(definition.http);
  const { url, method, timeout_ms, retries, response, request, output_fields, failures } = http;
  return {
    idempotent: isIdempotent(http),
    http: {
      url,
      method,
      timeout_ms,
      retries,
      response,
      ...(request && { request }),
      ...(output_fields && { output_fields }),
      ...(failures && { failures }),
      sealed,
      ...changedAuth({}, http),
    },
  };
}

/** Follows HTTP's definition of idempotent methods, unless the tool overrides it. */
const isIdempotent = ({ method, idempotent }: HttpDefinition): boolean =>
  idempotent ?? ["GET", "HEAD", "PUT", "DELETE"].includes(method);

export const sendsRequest: Sends = {
  field: "url",
  secretField: "headers",
  signed: true,
  ownHeaders: ["idempotency-key", "x-run-id", "x-tool-call-id", "webhook-id", "webhook-timestamp", "webhook-signature"],
  to: ({ http }) => {
    const { url, header_names, query_names = [], oauth_client_id } = requireSettings(http);
    return { address: url, header_names, query_names, ...(oauth_client_id !== undefined && { oauth_client_id }) };
  },
};
