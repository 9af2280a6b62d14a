import type { OpenApi } from "../../entities/server/openapi-api.ts";
import type { FieldLine } from "./list-fields.ts";
import type { ListedOperation } from "./list-operations.ts";
import { limitWords } from "./rule-of.ts";
import { typeOf } from "./type-of.ts";

/** Returns the path, query and header parameters of an operation as fields. */
export const parameterLines = ({ parameters = [] }: ListedOperation, document: OpenApi): FieldLine[] =>
  parameters.map(({ name, in: place, required = false, description, schema = {} }) => ({
    path: `${place} ${name}`,
    name,
    depth: 0,
    required,
    type: `${typeOf(schema, document)} in the ${place}`,
    limits: limitWords(schema),
    description,
  }));
