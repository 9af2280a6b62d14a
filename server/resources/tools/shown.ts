import { changeable } from "../../domain/api-types/schema.ts";
import { parametersOf } from "./definition.ts";
import { definitionOf, type Row } from "./row.ts";
import { toolKinds } from "./types/tool-kinds.ts";

/** Serializes a tool: flat, with the fields of its type. */
export function serializeTool(row: Row) {
  const definition = definitionOf(row);
  const { description, approval, on_unknown, max_output_bytes, enabled } = definition;
  return {
    id: row.id,
    object: "tool" as const,
    name: row.name,
    type: row.type,
    description,
    parameters: parametersOf(row.type, definition),
    approval,
    on_unknown,
    max_output_bytes,
    enabled,
    ...toolKinds[row.type].show(definition),
    ...changeable(row),
  };
}
