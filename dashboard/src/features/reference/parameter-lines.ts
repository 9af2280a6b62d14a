import type { OpenApi } from "../../entities/server/openapi-api.ts";
import type { FieldLine } from "./list-fields.ts";
import type { Listed } from "./list-operations.ts";
import { ruleOf } from "./rule-of.ts";
import { typeOf } from "./type-of.ts";

/** The parameters of an operation's path, query and head, as fields. */
export const parameterLines = ({ parameters = [] }: Listed, document: OpenApi): FieldLine[] =>
  parameters.map(({ name, in: place, required = false, description, schema = {} }) => ({
    path: `${place} ${name}`,
    name,
    depth: 0,
    required,
    type: `${typeOf(schema, document)} in the ${place}`,
    rule: ruleOf(schema),
    description,
  }));
