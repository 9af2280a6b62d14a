import type { ImportedOperation } from "../../../../../server/resources/tools/import/schema.ts";
import { matchesQuery } from "../../../lib/matches-query.ts";

/** Filters of the list of operations. */
interface OperationFilter {
  q: string;
  difference: ImportedOperation["difference"] | undefined;
}

export interface OperationGroup {
  tag: string;
  operations: ImportedOperation[];
}

export type OperationRow =
  | { kind: "group"; group: OperationGroup; isOpen: boolean }
  | { kind: "operation"; operation: ImportedOperation };

const untagged = "Other operations";

/** True if an import of the operation would change something. */
export const canImport = ({ difference }: ImportedOperation): boolean =>
  difference === "added" || difference === "changed";

/** Number of operations up to which a new document is chosen as a whole, and its groups are open. */
const fewOperations = 20;
export const openOperations = 50;

/**
 * Operations that are chosen at first. Of a document that was imported before: its changes, except those that would
 * replace an edit.
 */
export function firstChoice(operations: readonly ImportedOperation[]): Set<string> {
  const isKnown = operations.some(({ tool_id }) => tool_id !== null);
  const proposed = operations.filter(
    (each) => canImport(each) && (isKnown ? each.difference === "changed" && !each.edited : !each.deprecated),
  );
  return new Set(isKnown || proposed.length <= fewOperations ? proposed.map(({ operation }) => operation) : []);
}

/** Chosen operations that a newer preview still has. */
export const stillChosen = (chosen: ReadonlySet<string>, operations: readonly ImportedOperation[]): Set<string> =>
  new Set(operations.filter((each) => canImport(each) && chosen.has(each.operation)).map(({ operation }) => operation));

/** Returns the matching operations by their first tag, in the document's order. */
export function groupsOf(
  operations: readonly ImportedOperation[],
  { q, difference }: OperationFilter,
): OperationGroup[] {
  const found = operations.filter(
    (each) =>
      (difference === undefined || each.difference === difference) &&
      (q.trim() === "" || matchesQuery(textOf(each), q)),
  );
  return [...Map.groupBy(found, ({ tags }) => tags[0] ?? untagged)].map(([tag, members]) => ({
    tag,
    operations: members,
  }));
}

/** Rows of a list with headings; one group alone that has no tag needs no heading. */
export function rowsOf(groups: readonly OperationGroup[], isOpen: (tag: string) => boolean): OperationRow[] {
  const isPlain = groups.length === 1 && groups[0]?.tag === untagged;
  return groups.flatMap((group): OperationRow[] => {
    const open = isPlain || isOpen(group.tag);
    const members = open ? group.operations.map((operation): OperationRow => ({ kind: "operation", operation })) : [];
    return isPlain ? members : [{ kind: "group", group, isOpen: open }, ...members];
  });
}

const textOf = ({ operation, operation_id, tags, tool, refusal }: ImportedOperation): string =>
  [operation, operation_id, ...tags, tool?.name, tool?.description, refusal?.message].join(" ");

/** An argument of a tool, and its place in the request. */
interface ArgumentLine {
  name: string;
  type: string;
  isRequired: boolean;
  place: string;
  description: string;
}

/** Returns the arguments of a tool with their places, required ones first; null if the preview has no room for them. */
export function argumentLines({ tool }: ImportedOperation): ArgumentLine[] | null {
  if (!tool?.request || !tool.parameters) return null;
  const { parameters: schema, request } = tool;
  const properties = (schema.properties ?? {}) as Record<string, unknown>;
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const body = request.body;
  const places = new Map<string, string>([
    ...request.parameters.map(({ argument, in: place, name }): [string, string] => [
      argument,
      withName(place, argument, name),
    ]),
    ...(body?.fields ?? []).map(({ argument, name, file }): [string, string] => [
      argument,
      withName(file ? `${body?.type} file` : `${body?.type} body`, argument, name),
    ]),
  ]);
  if (body?.argument !== undefined)
    places.set(body.argument, body.type === "file" ? "file as body" : `${body.type} body`);
  const lines = [...places].map(([name, place]): ArgumentLine => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return {
      name,
      place,
      type: typeOf(property),
      isRequired: required.has(name),
      description: descriptionOf(property),
    };
  });
  return [...lines.filter(({ isRequired }) => isRequired), ...lines.filter(({ isRequired }) => !isRequired)];
}

const withName = (place: string, argument: string, name: string | undefined): string =>
  name === undefined || name === argument ? place : `${place}, as ${name}`;

function typeOf(schema: unknown): string {
  if (typeof schema !== "object" || schema === null) return "any";
  const { type, enum: values, items } = schema as { type?: unknown; enum?: unknown; items?: unknown };
  if (Array.isArray(values)) return "choice";
  if (type === "array") return `list of ${typeOf(items)}`;
  return Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : "any";
}

const descriptionOf = (schema: unknown): string =>
  typeof schema === "object" && schema !== null && "description" in schema ? String(schema.description) : "";
