import type { OpenApiOrigin } from "../../../domain/http-request.ts";
import type { PlannedOperation, PlannedTool } from "../../../domain/openapi-import.ts";
import { canonicalJson } from "../../../lib/canonical-json.ts";
import { sha256 } from "../../../lib/hash.ts";
import { definitionOf, type Row } from "../row.ts";
import type { Definition } from "../types/tool-kind.ts";

/** Fields of a tool that an import sets. Others, such as the timeout and the approval, are the person's. */
const importedFields = ["description", "method", "url", "parameters", "request", "response"] as const;
type ImportedFields = { [Name in (typeof importedFields)[number]]: unknown };

/** A tool that was imported from a source. */
export interface ImportedRow {
  row: Row;
  origin: OpenApiOrigin;
}

/** Returns the imported tools among these. */
export const importedRows = (rows: readonly Row[], source: string): ImportedRow[] =>
  rows.flatMap((row) => {
    const origin = definitionOf(row).http?.openapi;
    return origin?.source === source ? [{ row, origin }] : [];
  });

/**
 * Returns the tool of each operation, by the operation: the one of the same method and path, else the one of the same
 * `operationId`, if that is unique on both sides.
 */
export function matchRows(
  operations: readonly PlannedOperation[],
  imported: readonly ImportedRow[],
): Map<PlannedOperation, ImportedRow> {
  const matched = new Map<PlannedOperation, ImportedRow>();
  const rest = new Map(imported.map((each) => [each.origin.operation, each]));
  for (const each of operations) {
    const found = rest.get(each.operation);
    if (!found) continue;
    matched.set(each, found);
    rest.delete(each.operation);
  }
  const unmatched = operations.filter((each) => !matched.has(each) && each.operation_id !== null);
  for (const [id, [each, ...more]] of Map.groupBy(unmatched, ({ operation_id }) => operation_id)) {
    const found = [...rest.values()].filter(({ origin }) => origin.operation_id === id);
    if (more.length === 0 && found.length === 1 && each && found[0]) {
      matched.set(each, found[0]);
      rest.delete(found[0].origin.operation);
    }
  }
  return matched;
}

const fieldsOfDefinition = ({ description, parameters, http }: Definition): ImportedFields => ({
  description,
  method: http?.method ?? "",
  url: http?.url ?? "",
  parameters,
  request: http?.request ?? { parameters: [], body: null },
  response: http?.response ?? "json",
});

/** Hash of the fields that an import sets. */
export const hashOf = (fields: ImportedFields): string =>
  sha256(canonicalJson(Object.fromEntries(importedFields.map((name) => [name, fields[name]]))));

/** Returns the names of the fields that differ, and whether somebody changed the tool since. */
export function differencesOf({ row, origin }: ImportedRow, tool: PlannedTool): { changes: string[]; edited: boolean } {
  const before = fieldsOfDefinition(definitionOf(row));
  return {
    changes: importedFields.filter((name) => canonicalJson(before[name]) !== canonicalJson(tool[name])),
    edited: hashOf(before) !== origin.fields_sha256,
  };
}
