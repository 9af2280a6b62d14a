import type { ErrorCode } from "../../server/core/errors.ts";

/** As much of OpenAPI as the documentation and the clients are made of. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  discriminator?: { propertyName: string; mapping: Record<string, string> };
}

interface Content {
  schema: Schema;
  example?: unknown;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  schema: Schema;
}

export interface Operation {
  /** `runs.create`, `agents.versions.list`. */
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Record<string, Content> };
  responses: Record<string, { $ref?: string; description?: string; content?: Record<string, Content> }>;
}

interface Refusal {
  description: string;
  "x-error-codes"?: ErrorCode[];
}

export interface OpenApi {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string; description: string }[];
  components: { schemas: Record<string, Schema>; responses: Record<string, Refusal> };
}

/** An operation as a method of a client. */
export interface Method {
  /** `["agents", "versions"]` */
  resource: string[];
  /** `list` */
  name: string;
  summary: string;
  description: string;
  verb: string;
  /** With its parameters in braces. */
  path: string;
  inPath: Parameter[];
  query: Parameter[];
  body: { name: string; required: boolean } | null;
  /** The schema of what it returns; `items` is one of its items where that is a list, null where it is not JSON. */
  returns: { name: string; items: string | null } | null;
}

/** Every operation, as its id says where it belongs. */
export function methodsOf({ paths, components: { schemas } }: OpenApi): Method[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, { operationId, summary, description, parameters, requestBody, responses }]) => {
      const resource = operationId.split(".");
      const name = resource.pop()!;
      const body = requestBody?.content["application/json"];
      const success = Object.entries(responses).find(([status, { content }]) => /^2/.test(status) && content)?.[1];
      const schema = success?.content?.["application/json"]?.schema;
      const returned = schema?.$ref && nameOf(schema.$ref);
      const item = returned && schemas[returned]?.properties?.data?.items?.$ref;
      return {
        ...{ resource, name, summary, description, verb: verb.toUpperCase(), path },
        inPath: parameters.filter((one) => one.in === "path"),
        query: parameters.filter((one) => one.in === "query"),
        body: body ? { name: nameOf(body.schema.$ref!), required: requestBody!.required } : null,
        returns: returned
          ? { name: returned, items: returned.endsWith("List") && item ? nameOf(item) : null }
          : schema
            ? { name: "", items: null }
            : null,
      };
    }),
  );
}

export const nameOf = (ref: string): string => ref.split("/").at(-1)!;
