import type { ErrorCode } from "../../server/domain/errors.ts";

/** The part of OpenAPI that the documentation and the clients use. */
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
  exclusiveMinimum?: number;
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
  /** Path with its parameters in braces. */
  path: string;
  inPath: Parameter[];
  query: Parameter[];
  /** Its specific headers: every POST has an Idempotency-Key, and a stream a Last-Event-ID. */
  headers: Parameter[];
  body: Body | null;
  returns: Returned | null;
}

interface Body {
  name: string;
  required: boolean;
  /** True if it is an object of arbitrary fields. */
  isMap: boolean;
  /** Media type of the bytes that it accepts as an alternative. */
  binary: string | null;
}

/** JSON response of an operation. */
interface Returned {
  schema: Schema;
  /** Type name of an item, if it is a list. */
  items: string | null;
  /** Alternative response, selected by a query parameter: by one of its values, or null for any. */
  instead: { schema: Schema; parameter: string; word: string | null } | null;
}

/** Returns every operation as a method, placed by its id. */
export function methodsOf({ paths, components: { schemas } }: OpenApi): Method[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, { operationId, summary, description, parameters, requestBody, responses }]) => {
      const resource = operationId.split(".");
      const name = resource.pop()!;
      const body = requestBody?.content["application/json"];
      const success = Object.entries(responses).find(([status, { content }]) => /^2/.test(status) && content)?.[1];
      const schema = success?.content?.["application/json"]?.schema;
      const query = parameters.filter((one) => one.in === "query");
      return {
        resource,
        name,
        summary,
        description,
        verb: verb.toUpperCase(),
        path,
        inPath: parameters.filter((one) => one.in === "path"),
        query,
        headers: parameters.filter((one) => one.in === "header" && !/^(Idempotency-Key|Last-Event-ID)$/.test(one.name)),
        body: body ? bodyOf(nameOf(body.schema.$ref!), requestBody!, schemas) : null,
        returns: schema ? returnedOf(schema, query, schemas) : null,
      };
    }),
  );
}

function bodyOf(name: string, { required, content }: NonNullable<Operation["requestBody"]>, schemas: Schemas): Body {
  const binary = Object.keys(content).find((type) => !/^(application\/json|multipart\/form-data)$/.test(type));
  return { name, required, isMap: schemas[name]?.properties === undefined, binary: binary ?? null };
}

function returnedOf(schema: Schema, query: readonly Parameter[], schemas: Schemas): Returned {
  const item = schema.$ref?.endsWith("List") && schemas[nameOf(schema.$ref)]?.properties?.data?.items?.$ref;
  const [usual, other] = schema.anyOf ?? [];
  const selector = query.find(({ name }) => name === "format" || name === "exclude");
  if (!usual || !other || !selector) return { schema, items: item ? nameOf(item) : null, instead: null };
  const { enum: values, const: only } = selector.schema;
  const [word = null] = (values ?? (only === undefined ? [] : [only])) as string[];
  return { schema: usual, items: null, instead: { schema: other, parameter: selector.name, word } };
}

type Schemas = OpenApi["components"]["schemas"];

export const nameOf = (ref: string): string => ref.split("/").at(-1)!;
