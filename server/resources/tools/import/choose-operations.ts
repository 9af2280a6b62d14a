import type { AppError } from "../../../domain/errors.ts";
import { importLimits, type PlannedOperation } from "../../../domain/openapi-import.ts";
import { fault, invalid, throwIfInvalid } from "../../../http/errors.ts";
import type { ImportTools } from "./schema.ts";

type Choice = Pick<ImportTools, "operations" | "tags">;

/** Tags that a refusal of too many operations names. */
const tagsNamed = 10;

/**
 * Returns which operations are chosen: those that are named, and those of the tags. Throws for names and tags that the
 * document does not have, and for names that several operations have.
 */
export function chosenOperations(
  operations: readonly PlannedOperation[],
  { operations: names, tags }: Choice,
): (operation: PlannedOperation) => boolean {
  if (!names && !tags) return () => true;
  const wanted = new Set(tags);
  const byName = Map.groupBy(operations, ({ operation }) => operation);
  const byId = Map.groupBy(operations, ({ operation_id }) => operation_id);
  const chosen = new Set(operations.filter((each) => each.tags.some((tag) => wanted.has(tag))));
  const known = new Set(operations.flatMap((each) => each.tags));
  const faults = (names ?? []).flatMap((name, index) => {
    const found = byName.get(name) ?? byId.get(name) ?? [];
    if (found.length === 1 && found[0]) chosen.add(found[0]);
    if (found.length === 0) return [fault(`operations[${index}]`, "The document has no such operation.")];
    return found.length === 1
      ? []
      : [fault(`operations[${index}]`, "Several operations have this id: name them by method and path.")];
  });
  for (const [index, tag] of (tags ?? []).entries())
    if (!known.has(tag)) faults.push(fault(`tags[${index}]`, "The document has no operation with this tag."));
  throwIfInvalid(faults.slice(0, 20));
  return (operation) => chosen.has(operation);
}

/** Refusal of an import that would store too many tools: says how to import the document in parts. */
export function tooManyOperations({ operations: names, tags }: Choice, chosen: readonly PlannedOperation[]): AppError {
  const byTag = Map.groupBy(
    chosen.flatMap((each) => each.tags),
    (tag) => tag,
  );
  const largest = [...byTag]
    .map(([tag, { length }]) => ({ tag: JSON.stringify(tag.slice(0, 64)), length }))
    .toSorted((a, b) => b.length - a.length);
  const named = largest.slice(0, tagsNamed).map(({ tag, length }) => `${tag} (${length})`);
  const others = largest.length > named.length ? ", and others" : "";
  return invalid(
    tags && !names ? "tags" : "operations",
    [
      `An import takes at most ${importLimits.tools} operations that change something, and these are ${chosen.length}.`,
      "Import them in parts, by `operations` or `tags`: the tools of earlier parts stay.",
      ...(named.length > 0 ? [`Tags of these: ${named.join(", ")}${others}.`] : []),
    ].join(" "),
  );
}
