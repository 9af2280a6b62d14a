import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { idPattern } from "../core/ids.ts";
import { environments } from "../core/scope.ts";
import { build } from "../lib/build-info.ts";
import { descriptionOf, parameterDescription } from "../wire/descriptions.ts";
import { ErrorBody } from "../wire/error.ts";
import { testEvent, webhookEvents } from "../wire/names.ts";
import { WebhookEvent } from "../wire/webhook.ts";
import type { Auth } from "./auth.ts";
import { exampleOf } from "./example-of.ts";
import { type Components, createComponents, ref, type Schema } from "./openapi-components.ts";
import { apiRoutes, type Operation, type Route } from "./operation.ts";

/** The API in OpenAPI 3.1 as text, made of the application's own routes when it is first asked for. */
export function createOpenApi(routes: () => readonly Route[]): () => Promise<string> {
  let document: Promise<string> | undefined;
  return () => {
    document ??= write(routes());
    return document;
  };
}

/** `GET /v1/openapi.json`. */
export const openApiRoutes = ({ auth, document }: { auth: Auth; document: () => Promise<string> }) =>
  new Elysia({ tags: ["Account"] }).use(auth).get(
    "/openapi.json",
    async ({ set }) => {
      set.headers["content-type"] = "application/json";
      set.headers["cache-control"] = "no-store";
      return await document(); // Text: a `request_id` among its fields would make it another format.
    },
    {
      operation: {
        id: "getOpenApi",
        summary: "This document",
        needs: "read_or_run",
        returns: Type.Unsafe({ type: "object", description: `One document for ${environments.join(" and ")}.` }),
      },
    },
  );

async function write(all: readonly Route[]): Promise<string> {
  // Only whoever asks for the document waits for the library.
  const { toOpenAPISchema } = await import("@elysiajs/openapi/openapi");
  const routes = apiRoutes(all).map(documented);
  const source = { getGlobalRoutes: () => routes } as unknown as Parameters<typeof toOpenAPISchema>[0];
  const paths = toOpenAPISchema(source, { staticFile: false }).paths as Paths;
  const components = createComponents(descriptionOf);
  components.used(ErrorBody, "Error");
  const webhooks = webhooksOf(components);
  for (const { method, path, operation } of routes)
    mend(paths[path.replaceAll(/:(\w+)/g, "{$1}")]![method.toLowerCase()]!, method, operation, components);
  return JSON.stringify({
    openapi: "3.1.1",
    info: {
      title: "runnel",
      version: build.version,
      description: "A self-hosted agent runtime. Fields may be added at any time; removals come with /v2 only.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    tags: [...new Set(routes.flatMap(({ hooks }) => hooks.detail.tags))].map((name) => ({ name })),
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses: refusals,
      headers: responseHeaders,
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key: `sk_test_…`, `sk_live_…`." },
      },
    },
  });
}

type Paths = Record<
  string,
  Record<
    string,
    {
      parameters?: object[];
      requestBody?: { content: object; required: boolean };
      responses?: Record<string, { content?: Record<string, { schema: Schema }> }>;
    }
  >
>;

/** A route as the library shall see it: it would take our own reading of bodies for a format that it does not know. */
function documented({
  method,
  path,
  operation,
  hooks: { body, params, detail: given },
}: ReturnType<typeof apiRoutes>[0]) {
  const { id, summary, needs, streams } = operation;
  const scope = needs === "read_or_run" ? "`read` or `run`" : `\`${needs}\``;
  const detail = {
    operationId: id,
    tags: given?.tags ?? [],
    summary,
    description: `Needs the scope ${scope}.${streams ? ` ${streams}` : ""}`,
    responses: responsesOf(operation, method, body !== undefined, path),
  };
  return { method, path, operation, hooks: { ...(params ? { params } : {}), body, detail } };
}

/** Adds what the library knows nothing of, and takes away the formats in which it offers every body. */
function mend(entry: Paths[string][string], method: string, operation: Operation, components: Components): void {
  const { id, query = {}, path = {}, parts, binary } = operation;
  const name = `${id[0]!.toUpperCase()}${id.slice(1)}`;
  const parameters = Object.entries(query)
    .filter(([name]) => !name.endsWith("[*]"))
    .map(([name, schema]) => described("query", name, components.used(schema, name)));
  if ("metadata[*]" in query) parameters.push({ ...described("query", "metadata", pairs), ...inBrackets });
  const headers = [...(resumes(operation) ? [lastEventId] : []), ...(method === "POST" ? [idempotencyKey] : [])];
  const inPath = (entry.parameters ?? []) as { name: string; schema: Schema }[];
  for (const { content = {} } of Object.values(entry.responses ?? {}))
    for (const format of Object.values(content)) format.schema = components.used(format.schema, `${name}Answer`);
  entry.parameters = [
    ...inPath.map((one) => ({ ...one, ...told(one.name), schema: path[one.name] ?? one.schema })),
    ...parameters,
    ...headers,
  ];
  const { requestBody } = entry;
  if (!requestBody) {
    giveExample(entry.responses, components);
    return;
  }
  const { schema } = (requestBody.content as Record<string, { schema: Schema }>)["application/json"]!;
  const content = {
    "application/json": withExample(components.put(`${name}Request`, schema), operation.example, components),
    ...(parts && { "multipart/form-data": { schema: components.put(`${name}RequestInParts`, parts) } }),
    ...(binary && { [binary]: { schema: {} } }),
  };
  entry.requestBody = {
    required: binary !== undefined || ((schema.required as string[]) ?? []).length > 0,
    content,
  };
}

/** Who follows a stream that somebody else began names the place. */
const resumes = ({ streams, query, returns }: Operation): boolean =>
  streams !== undefined && returns !== undefined && query?.starting_after !== undefined;

const withExample = (schema: Schema, given: unknown, { schemas }: Components) => ({
  schema,
  example: given ?? exampleOf(schema, schemas),
});

/** Where nothing is sent, the example is what comes back. */
function giveExample(responses: Paths[string][string]["responses"], components: Components): void {
  const { content = {} } = Object.values(responses ?? {}).find((response) => response.content) ?? {};
  for (const [type, format] of Object.entries(content))
    if (type === "application/json") Object.assign(format, withExample(format.schema, undefined, components));
}

const told = (name: string) => ({ description: parameterDescription(name) });

const described = (place: "query" | "header", name: string, schema: Schema) => ({
  name,
  in: place,
  required: false,
  ...told(name),
  schema,
});

const pairs = {
  type: "object",
  additionalProperties: { type: "string" },
  maxProperties: 16,
  propertyNames: { minLength: 1, maxLength: 64 },
};
const inBrackets = { style: "deepObject", explode: true };
const lastEventId = described("header", "Last-Event-ID", { type: "string" });
const idempotencyKey = described("header", "Idempotency-Key", {
  type: "string",
  minLength: 1,
  maxLength: 255,
  pattern: "^[ -~]+$",
});

/** What webhooks are sent, by event. */
function webhooksOf(components: Components) {
  const schema = components.used(WebhookEvent, "WebhookEvent");
  return Object.fromEntries(
    [...webhookEvents, testEvent].map((event) => [
      event,
      {
        post: {
          operationId: `on_${event.replace(".", "_")}`,
          summary: `Tell of \`${event}\``,
          description: "Signed as Standard Webhooks has it, and sent again until it is taken.",
          requestBody: { required: true, content: { "application/json": { schema } } },
          responses: { "2XX": { description: "The event is taken." } },
        },
      },
    ]),
  );
}
const replayed = {
  "Idempotent-Replayed": {
    description: "There when this is the answer to an earlier request with the same `Idempotency-Key`.",
    schema: { const: "true" },
  },
};
const idempotencyConflicts = ["idempotency_key_reused", "idempotency_in_progress"];

function responsesOf(operation: Operation, method: string, hasBody: boolean, path: string) {
  const { returns, creates, known, streams, media = ["application/json"] } = operation;
  const [status, body] = returns ? [200, returns] : [201, creates];
  const once = { headers: { ...everyHeader, ...(method === "POST" && replayed) } };
  const json = Object.fromEntries(media.map((type) => [type, { schema: body }]));
  // Of any shape: a text to most readers of this document, and an event after the other to some.
  const events = { "text/event-stream": { schema: {} } };
  const success: Record<string, Schema> = { [status]: { description: "Done.", ...once, content: json } };
  if (known) success[200] = { description: known, ...once, content: json };
  // JSON first, also where it comes as 201: generators take the first format of 200 for what a route answers.
  if (streams) success[200] = { description: streams, ...once, content: { ...json, ...events } };
  if (resumes(operation))
    success[204] = { description: "The reader has had the last event: nothing more comes.", headers: everyHeader };
  const codes = [400, 401, 403, ...(path.includes(":") || hasBody ? [404] : []), ...(hasBody ? [413, 415] : []), 429];
  const conflicts = [...(operation.errors ?? []), ...(method === "POST" ? idempotencyConflicts : [])];
  return {
    ...success,
    ...Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/responses/${code}` }])),
    ...(conflicts.length > 0 && { 409: refusal(`The state forbids it: ${conflicts.join(", ")}.`) }),
    default: { $ref: "#/components/responses/default" },
  };
}

const header = (description: string, schema: Schema) => ({ description, schema });

const responseHeaders = {
  "X-Request-Id": header("The request's id, for the operator's log.", {
    type: "string",
    pattern: idPattern("request"),
  }),
  "X-RateLimit-Limit": header("How many requests a minute may have; absent where there is no limit.", {
    type: "integer",
  }),
  "X-RateLimit-Remaining": header("How many requests are left.", { type: "integer" }),
  "X-RateLimit-Reset": header("When all of them are there again, in Unix seconds.", { type: "integer" }),
  "Retry-After": header("After how many seconds the request may succeed.", { type: "integer", minimum: 1 }),
};
const headerRef = (name: string) => ({ [name]: { $ref: `#/components/headers/${name}` } });
const { "Retry-After": _, ...onEvery } = responseHeaders;
const everyHeader = Object.assign({}, ...Object.keys(onEvery).map(headerRef)) as Record<string, Schema>;

const refusal = (description: string, headers = everyHeader) => ({
  description,
  headers,
  content: { "application/json": { schema: ref("Error") } },
});

const refusals = {
  400: refusal("The request breaks a rule; `errors` lists every fault."),
  401: refusal("The key is missing or not valid."),
  403: refusal("The key may not do this, or the address may not be reached."),
  404: refusal("There is nothing with this id here."),
  413: refusal("The body is too large."),
  415: refusal("The body is of another format than the route takes."),
  429: refusal("Too much at once. `Retry-After` says when to come back.", {
    ...everyHeader,
    ...headerRef("Retry-After"),
  }),
  default: refusal("The server could not do it.", { ...everyHeader, ...headerRef("Retry-After") }),
};
