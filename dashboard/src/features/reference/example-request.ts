import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { OpenApi, Schema } from "../../entities/server/openapi-api.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import { resolve } from "./list-fields.ts";
import type { Listed } from "./list-operations.ts";

/** A request that shows the operation, with what it asks for and nothing else. */
export function exampleRequest(operation: Listed, document: OpenApi, mode: Mode): ApiRequest {
  const { method, path, parameters = [], requestBody } = operation;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const pattern = parameters.find((each) => each.in === "path" && each.name === name)?.schema?.pattern;
    return `${prefixIn(pattern) ?? ""}${name.replace(/^.*_(?=id$)/, "").toUpperCase()}`;
  });
  const schema = requestBody?.content["application/json"]?.schema;
  if (!schema || method === "GET" || method === "DELETE") return { method, path: filled };
  return { method, path: filled, body: example(schema, "", document, mode, 0) };
}

const prefixIn = (pattern: string | undefined): string | undefined => /^\^([a-z]+_)\[/.exec(pattern ?? "")?.[1];

/** Values that say more than their type. */
const known: Record<string, unknown> = {
  agent_id: "agt_ID",
  tool_call_id: "call_ID",
  run_id: "run_ID",
  input: "How is the weather in Oslo?",
  instructions: "Answer questions about the weather.",
  name: "example",
  url: "https://example.com/hook",
  text: "Oslo is the capital of Norway.",
  query: "capital of Norway",
  cron: "0 9 * * 1-5",
  timezone: "Europe/Oslo",
  value: "a secret",
};

function example(given: Schema, name: string, document: OpenApi, mode: Mode, depth: number): unknown {
  const schema = resolve(given, document).schema ?? {};
  if (name === "model") return mode === "test" ? "test/echo" : "openai/gpt-5";
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.oneOf)?.[0];
  if (choice) return example(choice, name, document, mode, depth);
  if (name in known && (schema.type === "string" || schema.type === undefined)) return known[name];
  if (schema.type === "array") return depth > 3 ? [] : [example(schema.items ?? {}, name, document, mode, depth + 1)];
  if (schema.properties || schema.type === "object") {
    const fields = (schema.required ?? []).map((field) => [
      field,
      example(schema.properties?.[field] ?? {}, field, document, mode, depth + 1),
    ]);
    return depth > 3 ? {} : Object.fromEntries(fields);
  }
  if (schema.default !== undefined) return schema.default;
  if (schema.type === "integer" || schema.type === "number") return Math.max(schema.minimum ?? 1, 1);
  if (schema.type === "boolean") return true;
  const prefix = prefixIn(schema.pattern);
  return prefix ? `${prefix}ID` : name || "text";
}
