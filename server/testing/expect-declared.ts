import type { TSchema } from "@sinclair/typebox";
import { Compile } from "typebox/schema";
import type { DescribedOperation } from "../http/describe-operations.ts";
import { createRouteFinder } from "../http/find-routes.ts";
import { type ResponseHeader, responseHeaders } from "../http/headers.ts";
import { declarationOf, type Route } from "../http/operation.ts";
import { lazy } from "../lib/lazy.ts";

/** Response as a test reads it: JSON is parsed, anything else is text. */
export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test asks for fields that the types of the server do not promise.
  body: any;
  headers: Headers;
}

// Keyed by schema: all servers of a test file declare the same routes.
const validators = new WeakMap<object, ReturnType<typeof Compile>>();

const known = Object.keys(responseHeaders) as ResponseHeader[];
/** Headers that are always present where they are declared. */
const sure = ["X-Request-Id", "Location", "ETag", "Accept-Ranges", "Content-Disposition", "WWW-Authenticate"] as const;

/**
 * Returns a check that throws if the status, error code, headers or body of an API response are not declared by its
 * route.
 */
export function createExpectDeclared(operations: readonly DescribedOperation[]) {
  const find = createRouteFinder(operations);
  return (method: string, path: string, { status, body, headers }: Answer): void => {
    const operation = find(new URL(path, "http://localhost").pathname).find((one) => one.method === method);
    if (!operation) return;
    const returned = operation.responses[status];
    const refuse = (why: string): never => {
      throw new Error(`${method} ${path}: ${status} ${body.error?.code ?? ""} ${why}`);
    };
    if (!returned) throw refuse("is no status that the route declares");
    if (returned.codes && !returned.codes.includes(body.error?.code)) refuse("is no error that the route declares");
    const undeclared = known.filter((name) => headers.has(name) && !returned.headers.includes(name));
    if (undeclared.length > 0) refuse(`has headers that the route does not declare: ${undeclared}`);
    const missing = sure.filter((name) => returned.headers.includes(name) && !headers.has(name));
    if (missing.length > 0) refuse(`has not the headers that the route declares: ${missing}`);
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    const schema = returned.content?.[type] ?? returned.content?.["*/*"];
    if (!schema && (returned.content || body !== "")) refuse(`has a body that the route does not declare: ${type}`);
    if (!schema) return;
    const faults = faultsOf(schema, body);
    if (faults) refuse(`is not as declared: ${faults}`);
  };
}

/** Returns the same check for the dashboard's routes, which declare only the shape of their bodies. */
export function createExpectShape(routes: () => readonly Route[]) {
  const find = lazy(() => createRouteFinder(routes().filter(({ path }) => path.startsWith("/console/api/"))));
  return (method: string, path: string, { status, body }: Answer): void => {
    if (!path.startsWith("/console/api/")) return;
    const route = find()(new URL(path, "http://localhost").pathname).find((one) => one.method === method);
    const { returns, creates } = route ? declarationOf(route) : {};
    const schema = { 200: returns, 201: creates }[status];
    const faults = schema && typeof body === "object" && faultsOf(schema, body);
    if (faults) throw new Error(`${method} ${path}: ${status} is not as declared: ${faults}`);
  };
}

function faultsOf(schema: TSchema, body: unknown): string | null {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  return validator.Check(body) ? null : JSON.stringify(validator.Errors(body)[1]);
}
