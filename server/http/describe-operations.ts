import type { TSchema } from "@sinclair/typebox";
import { ErrorBody } from "../domain/api-types/error.ts";
import { catalogue, type ErrorCode } from "../domain/errors.ts";
import { everyHeader, type ResponseHeader, requestHeaders } from "./headers.ts";
import type { Operation, Route } from "./operation.ts";
import { declarationOf } from "./operation.ts";
import type { Bucket } from "./rate-limit.ts";

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  description?: string;
  schema: TSchema;
}

/** One of the responses of an operation. */
export interface OperationResponse {
  description: string;
  headers: readonly ResponseHeader[];
  /** Schema by media type; absent if there is no body. */
  content?: Record<string, TSchema>;
  /** Possible error codes; absent for a success. */
  codes?: readonly ErrorCode[];
}

/** An API route with its declared and its derived properties. */
export interface DescribedOperation extends Omit<Operation, "path"> {
  method: string;
  path: string;
  tag: string;
  bucket: Bucket;
  description: string;
  /** True if the route is refused while the disk is nearly full. */
  needsFreeDisk: boolean;
  parameters: readonly Parameter[];
  /** Schema of the body by media type; a body that is not JSON may have any shape. */
  takes: Record<string, TSchema> | null;
  responses: Record<number, OperationResponse>;
}

/** All operations of the API: the source of the OpenAPI document, the reference and the tests. */
export const describeOperations = (routes: readonly Route[]): DescribedOperation[] =>
  routes.filter(({ path }) => path.startsWith("/v1/")).map(describe);

function describe(route: Route): DescribedOperation {
  const { method, hooks } = route;
  const operation = declarationOf(route) as Operation;
  const path = route.path.replace(/\/$/, "");
  const bucket = operation.bucket ?? (method === "GET" ? "reads_per_minute" : "writes_per_minute");
  const needsFreeDisk = !["GET", "DELETE"].includes(method) && operation.needsRoom !== false;
  const parameters = parametersOf(route, path, operation);
  const facts = { ...operation, method, path, bucket, needsFreeDisk, parameters };
  return {
    ...facts,
    tag: hooks.detail?.tags?.[0] ?? "",
    description: sentences(facts),
    takes: requestTypes(operation, hooks.body),
    responses: { ...successesOf(facts), ...refusalsOf(facts) },
  };
}

type Facts = Omit<DescribedOperation, "tag" | "description" | "takes" | "responses">;

function sentences({ method, needs, client, bucket, needsFreeDisk, streams }: Facts): string {
  const scope = needs === "read_or_run" ? "`read` or `run`" : `\`${needs}\``;
  const diskNote = method !== "GET" && !needsFreeDisk && " It goes on while the disk is nearly full.";
  const token = client && ` A client token needs \`${client}\`.`;
  return [`Needs the scope ${scope}, and counts for \`${bucket}\`.`, token, diskNote, streams && ` ${streams}`]
    .filter(Boolean)
    .join("");
}

function parametersOf({ method, hooks }: Route, path: string, operation: Operation): Parameter[] {
  const { query = {}, path: ofPath = {}, requestHeaders: own = [] } = operation;
  const read = method === "POST" ? (["Idempotency-Key", ...own] as const) : own;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
    const schema = (ofPath[name] ?? hooks.params?.properties[name]) as TSchema;
    return { in: "path" as const, name, required: true, description: schema.about, schema };
  });
  const inQuery = Object.entries(query).map(([name, schema]) => {
    const description = schema.description ?? schema.about;
    return { in: "query" as const, name, required: false, description, schema };
  });
  const inHead = read.map((name) => ({ in: "header" as const, name, required: false, ...requestHeaders[name] }));
  return [...inPath, ...inQuery, ...inHead];
}

const json = "application/json";

const requestTypes = ({ parts, binary }: Operation, body: TSchema | undefined) =>
  body === undefined
    ? null
    : { [json]: body, ...(parts && { "multipart/form-data": parts }), ...(binary && { [binary]: anything }) };

// Accepts any shape: text for most clients, an event stream for some.
const anything = {} as TSchema;
const withoutBody = new Set([204, 304]);

function successesOf(operation: Facts): Record<number, OperationResponse> {
  const { method, returns, creates, also = {}, streams, media = [json], responseHeaders = [] } = operation;
  const replayed = method === "POST" ? (["Idempotent-Replayed"] as const) : [];
  const headers = [...everyHeader, ...responseHeaders, ...replayed];
  const content = Object.fromEntries(media.map((type) => [type, returns ?? creates ?? anything]));
  const [status, description] = returns ? [200, "Done."] : [201, "Created."];
  const successes: Record<number, OperationResponse> = { [status]: { description, headers, content } };
  // JSON is the 200 response even if a route also returns 201, because generators take the first media type of 200 as
  // the route's type.
  if (streams)
    successes[200] = { description: streams, headers, content: { ...content, "text/event-stream": anything } };
  for (const [status, description] of Object.entries(also))
    successes[Number(status)] = { description, headers, ...(!withoutBody.has(Number(status)) && { content }) };
  return successes;
}

function refusalsOf(operation: Facts): Record<number, OperationResponse> {
  const byStatus = Object.groupBy(new Set(codesOf(operation)), (code) => catalogue[code].status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [
      status,
      {
        description: `${codes.map((code) => `\`${code}\`: ${catalogue[code].meaning}`).join("\n\n")}`,
        headers: [...everyHeader, ...(ofStatus[Number(status)] ?? [])],
        content: { [json]: ErrorBody },
        codes,
      },
    ]),
  );
}

/** Extra headers of some error statuses. */
const ofStatus: Record<number, readonly ResponseHeader[]> = {
  400: ["Idempotent-Replayed"],
  401: ["WWW-Authenticate"],
  404: ["Idempotent-Replayed"],
  409: ["Idempotent-Replayed", "Retry-After"],
  413: ["Idempotent-Replayed"],
  415: ["Idempotent-Replayed"],
  416: ["Content-Range"],
  429: ["Retry-After"],
  503: ["Retry-After"],
  507: ["Retry-After"],
};

/** Error codes that every route may return. */
export const everyCode = [
  "validation_failed",
  "unknown_parameter",
  "missing_api_key",
  "invalid_api_key",
  "key_revoked",
  "client_token_expired",
  "insufficient_scope",
  "origin_not_allowed",
  "https_required",
  "rate_limited",
  "headers_too_large",
  "internal_error",
] as const satisfies readonly ErrorCode[];

function codesOf({ method, bucket, query = {}, parameters, errors = [] }: Facts): ErrorCode[] {
  const when = (is: boolean, ...codes: ErrorCode[]) => (is ? codes : []);
  return [
    ...everyCode,
    // A body is read even if it is then refused.
    ...when(
      method !== "GET",
      "invalid_json",
      "body_timeout",
      "payload_too_large",
      "unsupported_media_type",
      "shutting_down",
    ),
    ...when("starting_after" in query, "invalid_cursor"),
    ...when(
      parameters.some((one) => one.in === "path"),
      "resource_not_found",
    ),
    ...when(method === "POST", "idempotency_key_reused", "idempotency_in_progress"),
    ...when(bucket === "run_creations_per_minute", "concurrency_limit_exceeded"),
    ...when(bucket !== "reads_per_minute", "storage_full"),
    ...errors,
  ];
}
