import { Type } from "@sinclair/typebox";
import type { Fault } from "../../../domain/errors.ts";
import {
  argumentsOf,
  bodyTypes,
  parameterPlaces,
  parameterStyles,
  type RequestBody,
  type RequestMapping,
  stylesOf,
} from "../../../domain/http-request.ts";
import type { JsonSchema } from "../../../domain/model-call.ts";
import { fault } from "../../../http/errors.ts";
import { checkHeaders, EgressError } from "../../../lib/egress.ts";
import * as t from "../../../lib/schema.ts";
import { namesIn } from "../../../lib/url-template.ts";
import { sendsRequest } from "./request.ts";
import type { Definition, ToolInput } from "./tool-kind.ts";

const nameText = Type.String({ minLength: 1, maxLength: 256 });
const argument = t.about("The argument of the call, by its name in `parameters`.", nameText);
const nameInRequest = t.about("Its name in the request. Default: that of the argument.", Type.Optional(nameText));
const style = t.about(
  "How a list or an object is written, as in OpenAPI; `json`: as JSON. Default: `simple` in path and header, `form` in query and cookie; an object in a form is JSON.",
  Type.Optional(t.oneOf(parameterStyles)),
);
const explode = t.about(
  "Whether each item of a list is written by itself. Default: as in OpenAPI, true for `form` and `deepObject`.",
  Type.Optional(Type.Boolean()),
);
const fieldsMost = 500;

const parameterFields = {
  argument,
  name: nameInRequest,
  in: t.about(
    "Where it stands in the request: in the path, the query, a header or a cookie.",
    t.oneOf(parameterPlaces),
  ),
  style,
  explode,
  allow_reserved: t.about(
    "Whether reserved characters such as `/` are sent as they are.",
    Type.Optional(Type.Boolean()),
  ),
};
const bodyFields = {
  type: t.about(
    "`json`; `form`: URL-encoded; `multipart`: with files; `text`; `file`: a file of the run is the body.",
    t.oneOf(bodyTypes),
  ),
  content_type: t.about(
    "Its media type. Default: that of the type.",
    Type.Optional(
      Type.String({ pattern: "^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}$", examples: ["text/csv"] }),
    ),
  ),
  argument: t.about("The argument that is the whole body.", Type.Optional(nameText)),
};
const formFields = {
  argument,
  name: nameInRequest,
  style,
  explode,
  file: t.about(
    "Whether the argument is the id of a file of the run, or a list of such ids. Of `multipart` only.",
    Type.Optional(Type.Boolean()),
  ),
};

const RequestMappingInput = t.named(
  "ToolRequest",
  t.closedObject({
    parameters: t.about(
      "Arguments that become parameters. One in the path stands in the URL as `{argument}`.",
      Type.Array(t.named("ToolRequestParameter", t.closedObject(parameterFields)), { maxItems: fieldsMost }),
    ),
    body: t.about(
      "How the body is made of arguments; null: the request has none.",
      t.orNull(
        t.named(
          "ToolRequestBody",
          t.closedObject({
            ...bodyFields,
            fields: t.about(
              "The arguments that become fields of the JSON or the form.",
              Type.Optional(
                Type.Array(t.named("ToolRequestField", t.closedObject(formFields)), { maxItems: fieldsMost }),
              ),
            ),
          }),
        ),
      ),
    ),
  }),
);

export const requestField = t.about(
  "How the arguments become the request. Arguments that it does not name are not sent. Default: they are the JSON body, or of GET and HEAD the query; null sets this.",
  t.orNull(t.withType<RequestMapping>(RequestMappingInput)),
);

export const shownMapping = t.withType<RequestMapping>(RequestMappingInput);

export const queryField = t.about(
  "Query parameters of every call; `{{secret.NAME}}` in a value stands for a secret.",
  t.named(
    "ToolQuery",
    Type.Record(Type.String({ pattern: "^[\\s\\S]{1,128}$" }), Type.String({ maxLength: 4096 }), {
      maxProperties: 50,
      additionalProperties: false,
    }),
  ),
);

export const shownOrigin = t.named(
  "ToolOrigin",
  t.object({
    source: t.about("The address or the name of the document.", t.text),
    sha256: t.about("SHA-256 of the imported document, by which a change is seen.", t.text),
    operation: t.about("The method and the path, such as `GET /pets/{id}`.", t.text),
    operation_id: t.about("The document's `operationId`; null if there is none.", t.orNull(t.text)),
  }),
);

/** Faults of a mapping against the method, the URL and the parameters, also if only one of them changes. */
export function requestFaults(input: ToolInput, before: Definition | null): Fault[] {
  const mapping = input.request === undefined ? before?.http?.request : input.request;
  if (!mapping) return [];
  const changes = ["request", "method", "url", "parameters"].filter((name) => name in input);
  if (changes.length === 0) return [];
  const param = input.request === undefined ? changes[0]! : "request";
  const method = input.method ?? before?.http?.method ?? "POST";
  const schema = input.parameters ?? before?.parameters ?? {};
  return [
    ...parameterFaults(mapping, input.url ?? before?.http?.url ?? ""),
    ...bodyFaults(mapping.body, method),
    ...unknownArguments(mapping, schema),
  ].map(([path, message]) => fault(param === "request" ? `request.${path}` : param, message));
}

type Found = [path: string, message: string];

function parameterFaults({ parameters }: RequestMapping, url: string): Found[] {
  const placeholders = new Set(namesIn(url));
  const seen = new Set<string>();
  return parameters.flatMap((each, index): Found[] => {
    const { argument: name, in: place } = each;
    const path = `parameters[${index}]`;
    const messages: Found[] = [];
    const key = `${place} ${(each.name ?? name).toLowerCase()}`;
    if (place !== "query" && seen.has(key)) messages.push([path, "There is such a parameter already."]);
    seen.add(key);
    if (each.style && !stylesOf[place].includes(each.style))
      messages.push([`${path}.style`, `In the ${place}, this is one of ${stylesOf[place].join(", ")}.`]);
    if (place === "path" && !placeholders.has(name))
      messages.push([`${path}.argument`, `The URL does not contain {${name.slice(0, 64)}}.`]);
    if (place === "header") messages.push(...headerFaults(each.name ?? name, path));
    if (place === "cookie" && !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(each.name ?? name))
      messages.push([path, "This cannot be the name of a cookie."]);
    return messages;
  });
}

/** Headers that only the tool itself, or the server, may set. */
const fixedHeaders = [...sendsRequest.ownHeaders, "authorization", "cookie", "accept", "content-type"];

function headerFaults(name: string, path: string): Found[] {
  if (fixedHeaders.includes(name.toLowerCase())) return [[path, "An argument cannot set this header."]];
  try {
    checkHeaders({ [name]: "" });
    return [];
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return [[path, error.message]];
  }
}

function bodyFaults(body: RequestBody | null, method: string): Found[] {
  if (!body) return [];
  if (method === "GET" || method === "HEAD") return [["body", `A ${method} request has no body.`]];
  const { type, argument: whole, fields } = body;
  const ofOne = type === "text" || type === "file";
  if (ofOne && whole === undefined) return [["body.argument", "Name the argument that is the body."]];
  if (ofOne && fields) return [["body.fields", `A body of the type ${type} has no fields.`]];
  if ((type === "form" || type === "multipart") && (whole !== undefined || !fields))
    return [["body.fields", "Name the arguments that are the fields of the form."]];
  if (type === "json" && (whole === undefined) === (fields === undefined))
    return [["body", "Name the argument that is the body, or those that are its fields."]];
  return (fields ?? []).flatMap((field, index): Found[] => [
    ...(field.file && type !== "multipart"
      ? [[`body.fields[${index}].file`, "Only a multipart form has files."] as Found]
      : []),
    ...(field.style && (type !== "form" || !stylesOf.query.includes(field.style))
      ? [[`body.fields[${index}].style`, `Only a form has styles: ${stylesOf.query.join(", ")}.`] as Found]
      : []),
  ]);
}

function unknownArguments(mapping: RequestMapping, schema: JsonSchema): Found[] {
  // References and alternatives are not evaluated.
  if (["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"].some((keyword) => keyword in schema)) return [];
  const properties = (schema.properties ?? {}) as object;
  const unknown = argumentsOf(mapping).filter((name) => !Object.hasOwn(properties, name));
  return [...new Set(unknown)].map((name) => [
    mapping.parameters.some((each) => each.argument === name) ? "parameters" : "body",
    `It names ${JSON.stringify(name.slice(0, 64))}, which is not one of the tool's parameters.`,
  ]);
}
