import { Type } from "@sinclair/typebox";
import { httpResponseTypes } from "../../../domain/agent-snapshot.ts";
import type { Fault } from "../../../domain/errors.ts";
import { httpMethods } from "../../../domain/http-request.ts";
import { fault } from "../../../http/errors.ts";
import * as t from "../../../lib/schema.ts";
import { namesIn, templateFault } from "../../../lib/url-template.ts";
import { failureFaults, failuresField, shownFailures } from "./failures.ts";
import { authFaults, masked, parameterFaults, secretInAddress, timeoutFaults } from "./fields.ts";
import { queryField, requestFaults, requestField, shownMapping, shownOrigin } from "./http-mapping.ts";
import {
  callOfRequest,
  changeRequest,
  requestFields,
  requestResponseFields,
  sendsRequest,
  showRequest,
} from "./request.ts";
import { type Definition, requireSettings, type ToolInput, type ToolKind } from "./tool-kind.ts";

const { url, headers, auth, timeout_ms, retries, idempotent } = requestFields;

export const fields = {
  url,
  method: t.about("The HTTP method with which the tool calls the URL.", t.oneOf(httpMethods)),
  headers,
  auth,
  query: queryField,
  request: requestField,
  timeout_ms,
  retries,
  response: t.about("How an HTTP tool's response is read.", t.oneOf(httpResponseTypes)),
  output_fields: t.about(
    "Which fields of a JSON response the model reads, such as `results.title`; lists are passed through; null: all of them.",
    t.orNull(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { minItems: 1, maxItems: 100 })),
  ),
  failures: failuresField,
  idempotent,
};
export const response = {
  ...requestResponseFields,
  method: t.text,
  query: t.about("Query parameters of every call; values are shown as `********`.", t.map(t.text)),
  request: t.about(
    "How the arguments become the request; null: they are the JSON body, or of GET and HEAD the query.",
    t.orNull(shownMapping),
  ),
  openapi: t.about("The operation that the tool was imported from; null if it was not.", t.orNull(shownOrigin)),
  response: t.oneOf(httpResponseTypes),
  output_fields: t.orNull(t.list(t.text)),
  failures: shownFailures,
};

/** A request whose URL may contain arguments. */
export const kind: ToolKind = {
  fields,
  response,
  faults: (input, before, known) => [
    ...urlFaults(input, before),
    ...authFaults(input, before?.http ?? null, known, false),
    ...timeoutFaults(input),
    ...parameterFaults(input),
    ...requestFaults(input, before),
    ...failureFaults(input),
  ],
  change: changeRequest,
  show: (definition) => {
    const http = requireSettings(definition.http);
    const { method, response, request = null, query_names = [], openapi, output_fields = null, failures = null } = http;
    const shown = openapi ? { ...openapi, fields_sha256: undefined } : null;
    return {
      ...showRequest(definition),
      method,
      query: masked(query_names),
      request,
      openapi: shown,
      response,
      output_fields,
      failures,
    };
  },
  snapshot: (base, definition, sealed) => ({ ...base, type: "http", ...callOfRequest(definition, sealed) }),
  sends: sendsRequest,
};

function urlFaults(input: ToolInput, before: Definition | null): Fault[] {
  if (input.url === undefined && !before) return [fault("url", "An HTTP tool needs a URL.", "required")];
  return input.url?.includes("{{secret.") ? [secretInAddress("url")] : templateFaults(input, before);
}

/** Faults of a URL template against the parameters, also if only one of them changes. */
function templateFaults({ url, parameters, request }: ToolInput, before: Definition | null): Fault[] {
  if (url === undefined && parameters === undefined) return [];
  const template = url ?? before?.http?.url ?? "";
  const unclear = templateFault(template);
  if (unclear !== null) return [fault("url", unclear)];
  const schema = parameters ?? before?.parameters ?? {};
  const mapping = request === undefined ? before?.http?.request : request;
  const mapped = new Set(mapping?.parameters.filter((each) => each.in === "path").map(({ argument }) => argument));
  return namesIn(template).flatMap((name) => {
    const message = argumentFault(schema, name, mapped.has(name));
    return message === null ? [] : [fault(url === undefined ? "parameters" : "url", message)];
  });
}

function argumentFault(schema: Record<string, unknown>, name: string, isMapped: boolean): string | null {
  // References and alternatives are not evaluated; a call that lacks the argument fails later.
  if (["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"].some((keyword) => keyword in schema)) return null;
  const properties = (schema.properties ?? {}) as Record<string, { type?: unknown } | boolean>;
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (property === undefined) return `The URL contains {${name}}, which is not one of the parameters.`;
  const isPlain =
    isMapped || typeof property === "boolean" || (property.type !== "array" && property.type !== "object");
  return isPlain ? null : `The URL contains {${name}}, which must be a string, a number or a boolean.`;
}
