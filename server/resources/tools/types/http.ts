import { httpResponseTypes } from "../../../domain/agent-snapshot.ts";
import type { Fault } from "../../../domain/errors.ts";
import { fault } from "../../../http/errors.ts";
import * as t from "../../../lib/schema.ts";
import { namesIn, templateFault } from "../../../lib/url-template.ts";
import { authFaults, parameterFaults, secretInAddress, timeoutFaults } from "./fields.ts";
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
  method: t.about("The method of the request.", t.oneOf(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])),
  headers,
  auth,
  timeout_ms,
  retries,
  response: t.about("How an HTTP tool's response is read.", t.oneOf(httpResponseTypes)),
  idempotent,
};
export const response = { ...requestResponseFields, method: t.text, response: t.oneOf(httpResponseTypes) };

/** A request whose URL may contain arguments. */
export const kind: ToolKind = {
  fields,
  response,
  faults: (input, before, known) => [
    ...urlFaults(input, before),
    ...authFaults(input, before?.http ?? null, known, false),
    ...timeoutFaults(input),
    ...parameterFaults(input),
  ],
  change: changeRequest,
  show: (definition) => {
    const { method, response } = requireSettings(definition.http);
    return { ...showRequest(definition), method, response };
  },
  snapshot: (base, definition, sealed) => ({ ...base, type: "http", ...callOfRequest(definition, sealed) }),
  sends: sendsRequest,
};

function urlFaults(input: ToolInput, before: Definition | null): Fault[] {
  if (input.url === undefined && !before) return [fault("url", "An HTTP tool needs a URL.", "required")];
  return input.url?.includes("{{secret.") ? [secretInAddress("url")] : templateFaults(input, before);
}

/** Faults of a URL template against the parameters, also if only one of them changes. */
function templateFaults({ url, parameters }: ToolInput, before: Definition | null): Fault[] {
  if (url === undefined && parameters === undefined) return [];
  const template = url ?? before?.http?.url ?? "";
  const unclear = templateFault(template);
  if (unclear !== null) return [fault("url", unclear)];
  const schema = parameters ?? before?.parameters ?? {};
  return namesIn(template).flatMap((name) => {
    const message = argumentFault(schema, name);
    return message === null ? [] : [fault(url === undefined ? "parameters" : "url", message)];
  });
}

function argumentFault(schema: Record<string, unknown>, name: string): string | null {
  // References and alternatives are not evaluated; a call that lacks the argument fails later.
  if (["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"].some((keyword) => keyword in schema)) return null;
  const properties = (schema.properties ?? {}) as Record<string, { type?: unknown } | boolean>;
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (property === undefined) return `The URL contains {${name}}, which is not one of the parameters.`;
  const isPlain = typeof property === "boolean" || (property.type !== "array" && property.type !== "object");
  return isPlain ? null : `The URL contains {${name}}, which must be a string, a number or a boolean.`;
}
