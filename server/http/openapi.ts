import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { defaultOf } from "../domain/api-types/defaults.ts";
import { testEvent, webhookEvents } from "../domain/api-types/enums.ts";
import { ErrorBody } from "../domain/api-types/error.ts";
import { ToolCallDelivery, WebhookEvent } from "../domain/api-types/webhook.ts";
import { environments } from "../domain/scope.ts";
import { build } from "../lib/build-info.ts";
import { lastItem } from "../lib/collections.ts";
import type { Auth } from "./auth.ts";
import {
  type DescribedOperation,
  describeOperations,
  everyCode,
  type OperationResponse,
  type Parameter,
} from "./describe-operations.ts";
import { exampleOf } from "./example-of.ts";
import { everyHeader, responseHeaders, webhookHeaders } from "./headers.ts";
import { type Components, createComponents, pascal, type Schema, singular } from "./openapi-components.ts";
import type { Route } from "./operation.ts";
import recorded from "./recorded-examples.json" with { type: "json" };

/** Creates the OpenAPI 3.1 document, lazily, from the application's own routes. */
export function createOpenApi(routes: () => readonly Route[]): () => string {
  let document: string | undefined;
  return () => {
    document ??= write(routes());
    return document;
  };
}

/** `GET /v1/openapi.json`. */
export const openApiRoutes = ({ auth, document }: { auth: Auth; document: () => string }) =>
  new Elysia({ tags: ["Account"] }).use(auth).get(
    "/openapi.json",
    ({ set }) => {
      set.headers["content-type"] = "application/json";
      set.headers["cache-control"] = "no-store";
      return document(); // As text: adding `request_id` would make it invalid.
    },
    {
      operation: {
        id: "openapi.retrieve",
        summary: "Retrieve the OpenAPI document",
        needs: "read_or_run",
        returns: Type.Unsafe({ type: "object", description: `One document for ${environments.join(" and ")}.` }),
      },
    },
  );

function write(routes: readonly Route[]): string {
  const components = createComponents(defaultOf);
  const responses: Record<string, object> = { default: responseOf(anyError, components) };
  components.used(ErrorBody, "");
  const operations = describeOperations(routes);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: entryOf(operation, components, responses) };
  }
  const webhooks = webhooksOf(components);
  return JSON.stringify({
    openapi: "3.1.1",
    info: {
      title: "runnel",
      version: build.version,
      description:
        "A self-hosted agent runtime. Fields may be added at any time; removals come with /v2 only. An id of your own in `X-Client-Request-Id` is logged beside the request's.",
      contact: { name: "The operator of this server" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name, description: tags[name] })),
    paths,
    webhooks,
    components: {
      schemas: components.schemas,
      responses,
      headers: responseHeaders,
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key: `sk_test_…`, `sk_live_…`." },
      },
    },
  });
}

/** Descriptions of the tags. */
const tags: Record<string, string> = {
  Account: "Your API key, what runs used, and the models that agents may use.",
  Agents: "An agent has instructions, a model, tools and rules. Each change makes a new version of it.",
  "API keys": "An API key belongs to a project and an environment, and has scopes.",
  "Audit log": "The audit log says who changed what, and when.",
  Files: "Files are given to runs, searched by memory stores, and worked on by code.",
  Memory: "A memory store holds what runs know of documents and of earlier runs.",
  Runs: "A run is one execution of an agent: its input, its output, and every step on record.",
  OAuth:
    "An OAuth client gets tokens of an authorization server, which authorize calls of tools. A grant has the tokens of a user or of the project.",
  Schedules: "A schedule starts runs by the clock.",
  Scores: "A score says what a person or a program thinks of a run.",
  Triggers: "A trigger starts a run for each event that another system sends to its address.",
  Users: "Those for whom runs are, by the `user_id` that your application gives them.",
  "Search and analytics": "What there is in a project by its words, and how its runs come along.",
  Secrets: "A secret is a value that tools send and that cannot be read.",
  Snippets: "A snippet is a text that agents share. Each change of the text makes a new version of it.",
  Suites: "A suite pins runs, to replay them against their agents as they are now.",
  Threads: "A thread is a conversation of several runs.",
  Skills: "A skill is a folder with instructions and files, which agents load when a task needs them.",
  Tools: "A tool is something that agents may call.",
  Traces: "A trace says what happened in a run, step by step.",
  Webhooks: "A webhook sends events to an address of yours.",
};

/** Describes an operation; each set of error codes becomes one shared component in `refusals`. */
function entryOf(operation: DescribedOperation, components: Components, refusals: Record<string, object>) {
  const { id, tag, summary, description, parameters, takes } = operation;
  const name = typeName(id);
  const responses: Record<string, object> = {};
  for (const [status, response] of Object.entries(operation.responses)) {
    const { codes } = response;
    const component = codes && [status, ...codes.filter((code) => !everyCode.includes(code as never))].join(".");
    if (component) refusals[component] ??= responseOf(response, components);
    responses[status] = component
      ? { $ref: `#/components/responses/${component}` }
      : responseOf(response, components, `${name}Answer`, answersTo(id)[status] ?? Object.values(answersTo(id))[0]);
  }
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters: parameters.map((one) => parameterOf(one, components)),
    ...(takes && { requestBody: bodyOf(operation, takes, name, components) }),
    responses: { ...responses, default: { $ref: "#/components/responses/default" } },
  };
}

/** Recorded example responses of an operation, by status. If a status has none, one of another status serves. */
const answersTo = (id: string): Record<string, unknown> =>
  (recorded.responses as Record<string, Record<string, unknown>>)[id] ?? {};

/**
 * Names the types of an operation: `suites.runs.create` → `CreateSuiteRun`, `webhooks.rotate_secret` →
 * `RotateWebhookSecret`. A verb with its own object drops the resource: `runs.submit_tool_outputs` →
 * `SubmitToolOutputs`.
 */
function typeName(id: string): string {
  const resource = id.split(".");
  const [verb = "", ...object] = lastItem(resource).split("_");
  const things = object.length > 1 ? [] : resource.slice(0, -1).map(singular);
  return pascal([verb, ...things, ...object].join("_"));
}

function parameterOf(parameter: Parameter, components: Components) {
  const { name, schema } = parameter;
  return name.endsWith("[*]")
    ? { ...parameter, name: name.slice(0, -3), schema: pairs, style: "deepObject", explode: true }
    : { ...parameter, schema: components.used(schema, name) };
}

const pairs = {
  type: "object",
  additionalProperties: { type: "string" },
  maxProperties: 16,
  propertyNames: { minLength: 1, maxLength: 64 },
};

function bodyOf(operation: DescribedOperation, takes: Record<string, Schema>, name: string, components: Components) {
  const { "application/json": schema, "multipart/form-data": parts, ...others } = takes as Record<string, Schema>;
  return {
    required: operation.binary !== undefined || ((schema!.required as string[]) ?? []).length > 0,
    content: {
      "application/json": withExample(components.put(`${name}Request`, schema!), components, operation.example),
      ...(parts && { "multipart/form-data": { schema: components.put(`${name}RequestInParts`, parts) } }),
      ...Object.fromEntries(Object.entries(others).map(([type, schema]) => [type, { schema }])),
    },
  };
}

const withExample = (schema: Schema, { schemas }: Components, explicitExample?: unknown) => ({
  schema,
  example: explicitExample ?? exampleOf(schema, schemas),
});

function responseOf(
  { description, headers, content, codes }: OperationResponse,
  components: Components,
  place = "",
  example?: unknown,
) {
  const formats = Object.entries(content ?? {}).map(([type, contentSchema]) => {
    const schema = components.used(contentSchema, place);
    return [type, { schema, ...(type === "application/json" && example !== undefined && { example }) }];
  });
  return {
    description,
    headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...(formats.length > 0 && { content: Object.fromEntries(formats) }),
    ...(codes && { "x-error-codes": codes }),
  };
}

const anyError: OperationResponse = {
  description: "The server could not do it.",
  headers: [...everyHeader, "Retry-After"],
  content: { "application/json": ErrorBody },
};

/** Describes webhook requests, by event. */
function webhooksOf(components: Components) {
  const parameters = Object.entries(webhookHeaders).map(([name, header]) => ({
    in: "header",
    name,
    required: true,
    ...header,
  }));
  const webhookOperation = (name: string, summary: string, body: Schema, acceptedText: string) => {
    const schema = components.used(body, "");
    const example = (recorded.webhooks as Record<string, unknown>)[name];
    return {
      post: {
        operationId: `on_${name.replace(".", "_")}`,
        summary,
        description: "Signed as Standard Webhooks has it, and sent again until it is taken.",
        parameters,
        requestBody: { required: true, content: { "application/json": { schema, example } } },
        responses: { "2XX": { description: acceptedText } },
      },
    };
  };
  const events = [...webhookEvents, testEvent].map((event) => [
    event,
    webhookOperation(event, `Tell of \`${event}\``, WebhookEvent, "The event is taken."),
  ]);
  const callAcceptedText = "202: the result comes later. Any other: the body is the result.";
  return {
    ...Object.fromEntries(events),
    tool_call: webhookOperation("tool_call", "Ask a webhook tool", ToolCallDelivery, callAcceptedText),
  };
}
