import { queryOptions } from "@tanstack/react-query";
import { get } from "../../lib/api.ts";

/** The parts of a JSON Schema that the API reference reads. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema?: Schema;
}

type Content = Record<string, { schema?: Schema; example?: unknown }>;

export interface Answer {
  $ref?: string;
  description?: string;
  content?: Content;
  /** Possible error codes. */
  "x-error-codes"?: string[];
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Answer>;
}

/** The API as described by `GET /v1/openapi.json`. */
export interface OpenApi {
  info: { version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; responses: Record<string, Answer> };
}

export const openApiUrl = "/console/api/openapi.json";

/** Never stale: the document changes only with the server. */
export const openApiQuery = queryOptions({
  queryKey: ["openapi"],
  queryFn: ({ signal }) => get<OpenApi>(openApiUrl, signal),
  staleTime: Number.POSITIVE_INFINITY,
});
