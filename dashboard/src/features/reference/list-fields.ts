import type { OpenApi, Schema } from "../../entities/server/openapi-api.ts";
import { ruleOf } from "./rule-of.ts";
import { typeOf } from "./type-of.ts";

/** One field of a body or an answer. */
export interface FieldLine {
  /** Where it stands: `budget.max_cost_usd`, `tools[].name`. */
  path: string;
  name: string;
  depth: number;
  type: string;
  required: boolean;
  rule: string;
  description?: string;
}

const deepest = 3;

/** The fields of a schema, each object's own below it. What refers to itself is told once. */
export function listFields(schema: Schema | undefined, document: OpenApi): FieldLine[] {
  const lines: FieldLine[] = [];
  const visit = (given: Schema | undefined, path: string, depth: number, seen: readonly string[]) => {
    const { schema: own, refs } = resolve(given, document);
    if (!own || depth > deepest || refs.some((ref) => seen.includes(ref))) return;
    const inner = [...seen, ...refs];
    for (const part of own.allOf ?? []) visit(part, path, depth, inner);
    const choices = (own.anyOf ?? own.oneOf ?? []).filter((each) => each.type !== "null");
    if (choices.length === 1) visit(choices[0], path, depth, inner);
    if (own.items) visit(own.items, `${path}[]`, depth, inner);
    for (const [name, field] of Object.entries(own.properties ?? {})) {
      const at = path === "" ? name : `${path}.${name}`;
      const known = resolve(field, document).schema ?? field;
      lines.push({
        path: at,
        name,
        depth,
        type: typeOf(known, document),
        required: own.required?.includes(name) ?? false,
        rule: ruleOf(known),
        description: field.description ?? known.description,
      });
      visit(field, at, depth + 1, inner);
    }
  };
  visit(schema, "", 0, []);
  return lines;
}

/** What a reference stands for, and the references on the way. */
function resolve(schema: Schema | undefined, document: OpenApi): { schema: Schema | undefined; refs: string[] } {
  const refs: string[] = [];
  let found = schema;
  while (found?.$ref && !refs.includes(found.$ref)) {
    refs.push(found.$ref);
    found = document.components.schemas[found.$ref.split("/").at(-1) ?? ""];
  }
  return { schema: found, refs };
}
