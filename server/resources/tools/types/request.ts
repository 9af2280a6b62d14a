import { Type } from "@sinclair/typebox";
import type { HttpCall, ToolSnapshot } from "../../../domain/agent-snapshot.ts";
import * as t from "../../../lib/schema.ts";
import { addressField, headersField, masked, timeoutField, usualTimeout_ms } from "./fields.ts";
import type { CommonDefinition, Given, Sends } from "./tool-kind.ts";

// Common parts of http and webhook tools: a signed request to the client's own address.

export interface HttpDefinition extends Omit<HttpCall, "sealed"> {
  /** Null: depends on the method. */
  idempotent: boolean | null;
  header_names: string[];
}

export const requestFields = {
  url: t.about(
    "The URL that is called. For an HTTP tool, it may contain arguments as `{name}` in path and query.",
    addressField,
  ),
  headers: headersField,
  timeout_ms: timeoutField,
  retries: t.about("How often a failed attempt is retried.", Type.Integer({ minimum: 0, maximum: 5 })),
  idempotent: t.about("Whether a call is safe to repeat.", Type.Boolean()),
};
export const requestResponseFields = {
  url: t.about(
    "The URL that is called. For an HTTP tool, it may contain arguments as `{name}` in path and query.",
    t.text,
  ),
  headers: t.about("Headers of every call; values are shown as `********`.", t.map(t.text)),
  timeout_ms: t.about("How long an attempt may take, in milliseconds.", t.integer),
  retries: t.about("How often a failed attempt is retried.", t.integer),
  idempotent: t.about("Whether a call is safe to repeat.", t.boolean),
  signing_secret: t.about("The secret that signs the calls, shown only once.", t.optional(t.text)),
};
/** `method` and `response` exist for http tools only. */
export type RequestInput = Given<typeof requestFields> & Partial<Pick<HttpDefinition, "method" | "response">>;
export type RequestDefinition = CommonDefinition & { http: HttpDefinition | null };

const defaults = {
  url: "",
  method: "POST",
  timeout_ms: usualTimeout_ms,
  retries: 0,
  response: "json",
  idempotent: null,
  header_names: [],
} as const;

export function changeRequest(input: RequestInput, before: RequestDefinition | null): Pick<RequestDefinition, "http"> {
  const base = before?.http ?? { ...defaults, header_names: [] };
  return {
    http: {
      url: input.url ?? base.url,
      method: input.method ?? base.method,
      timeout_ms: input.timeout_ms ?? base.timeout_ms,
      retries: input.retries ?? base.retries,
      response: input.response ?? base.response,
      idempotent: input.idempotent ?? base.idempotent,
      header_names: input.headers ? Object.keys(input.headers) : base.header_names,
    },
  };
}

export const showRequest = ({ http }: RequestDefinition) => ({
  url: http!.url,
  headers: masked(http!.header_names),
  timeout_ms: http!.timeout_ms,
  retries: http!.retries,
  idempotent: isIdempotent(http!),
});

export function callOfRequest({ http }: RequestDefinition, sealed: string): Pick<ToolSnapshot, "idempotent" | "http"> {
  const { url, method, timeout_ms, retries, response } = http!;
  return { idempotent: isIdempotent(http!), http: { url, method, timeout_ms, retries, response, sealed } };
}

/** Follows HTTP's definition of idempotent methods, unless the tool overrides it. */
const isIdempotent = ({ method, idempotent }: HttpDefinition): boolean =>
  idempotent ?? ["GET", "HEAD", "PUT", "DELETE"].includes(method);

export const sendsRequest: Sends<RequestDefinition> = {
  field: "url",
  signed: true,
  ownHeaders: ["idempotency-key", "x-run-id", "x-tool-call-id", "webhook-id", "webhook-timestamp", "webhook-signature"],
  to: ({ http }) => ({ address: http!.url, header_names: http!.header_names }),
};
