import type { HttpMethod, RequestMapping } from "./http-request.ts";
import type { JsonSchema } from "./model-call.ts";

/** Reasons why an operation does not become a tool. */
export const refusalCodes = [
  "external_reference",
  "broken_reference",
  "server_unknown",
  "url_not_allowed",
  "path_invalid",
  "method_unsupported",
  "parameter_unsupported",
  "body_unsupported",
  "schema_too_large",
  "name_taken",
  "operation_invalid",
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

export interface Refusal {
  code: RefusalCode;
  message: string;
}

/** An HTTP tool as the document describes it. */
export interface PlannedTool {
  name: string;
  description: string;
  method: HttpMethod;
  url: string;
  parameters: JsonSchema;
  request: RequestMapping;
  response: "json" | "text";
}

/** An operation of a document: a tool, or why it cannot be one. */
export interface PlannedOperation {
  /** Method and path, such as `GET /pets/{id}`. */
  operation: string;
  operation_id: string | null;
  tags: string[];
  deprecated: boolean;
  tool: PlannedTool | null;
  refusal: Refusal | null;
  /** Sentences on each part of the document that the tool does not check, or sends in another way. */
  notes: string[];
  /** Alternatives of authentication, each the names of schemes that are needed together; empty: none is needed. */
  security: string[][];
}

export interface PlannedServer {
  url: string;
  description: string;
  variables: { name: string; default: string; enum: string[]; description: string }[];
}

export const schemeTypes = ["bearer", "basic", "api_key", "oauth2", "openid_connect", "other"] as const;

export interface PlannedScheme {
  name: string;
  type: (typeof schemeTypes)[number];
  /** Of `api_key`: where it is sent, and under which name. */
  in: "header" | "query" | "cookie" | null;
  parameter: string | null;
  description: string;
}

/** Facts of a document, beside its operations. */
export interface PlannedDocument {
  title: string;
  version: string;
  /** Version of OpenAPI, as the document says. */
  openapi: string;
  servers: PlannedServer[];
  /** Server of the tools; null if the document names none that can be used. */
  server: string | null;
  security_schemes: PlannedScheme[];
}

/** Choices of an import that decide what the tools are. */
export interface ImportChoices {
  /** Address of the document, to which its servers may be relative; null: unknown. */
  document_url: string | null;
  /** Server of the tools; null: the first of the document. */
  server: string | null;
  /** Text before each name. */
  prefix: string;
}

export const importLimits = {
  /** Length of a document. */
  document_bytes: 16 * 1024 * 1024,
  /** Operations of a document. */
  operations: 5000,
  /** Operations of one import that become tools. */
  tools: 500,
} as const;
