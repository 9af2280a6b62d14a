import type { OpenApi, Schema } from "../../entities/server/openapi-api.ts";
import { limitWords } from "./rule-of.ts";
import { typeOf } from "./type-of.ts";

/** One field of a request or response body. */
export interface FieldLine {
  /** The path within the body: `budget.max_cost_usd`, `tools[].name`. */
  path: string;
  name: string;
  depth: number;
  type: string;
  required: boolean;
  limits: string;
  description?: string;
}

const maxDepth = 3;

/** Returns the fields of a schema, each object's fields after it. A recursive schema is expanded once. */
export function listFields(schema: Schema | undefined, document: OpenApi): FieldLine[] {
  const lines: FieldLine[] = [];
  const visit = (unresolved: Schema | undefined, path: string, depth: number, seen: readonly string[]) => {
    const { schema: own, refs } = resolve(unresolved, document);
    if (!own || depth > maxDepth || refs.some((ref) => seen.includes(ref))) return;
    const inner = [...seen, ...refs];
    for (const part of own.allOf ?? []) visit(part, path, depth, inner);
    const choices = (own.anyOf ?? own.oneOf ?? []).filter((each) => each.type !== "null");
    if (choices.length === 1) visit(choices[0], path, depth, inner);
    if (own.items) visit(own.items, `${path}[]`, depth, inner);
    for (const [name, field] of Object.entries(own.properties ?? {})) {
      const at = path === "" ? name : `${path}.${name}`;
      const resolved = resolve(field, document).schema ?? field;
      lines.push({
        path: at,
        name,
        depth,
        type: typeOf(resolved, document),
        required: own.required?.includes(name) ?? false,
        limits: limitWords(resolved),
        description: field.description ?? resolved.description,
      });
      visit(field, at, depth + 1, inner);
    }
  };
  visit(schema, "", 0, []);
  return lines;
}

/** Resolves a chain of references. Returns the schema and every reference that was followed. */
function resolve(schema: Schema | undefined, document: OpenApi): { schema: Schema | undefined; refs: string[] } {
  const refs: string[] = [];
  let current = schema;
  while (current?.$ref && !refs.includes(current.$ref)) {
    refs.push(current.$ref);
    current = document.components.schemas[current.$ref.split("/").at(-1) ?? ""];
  }
  return { schema: current, refs };
}
