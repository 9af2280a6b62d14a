/** What is the client's own: names within it are no fields. */
const theirs: ReadonlySet<string> = new Set(["data", "metadata"]);

/**
 * A message whose fields have the names that are read here. ProtoJSON lets a client write them in camel case or as the
 * protocol's definition has them: `taskId` and `task_id` are the same field.
 */
export function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      theirs.has(name) ? of : inCamelCase(of),
    ]),
  );
}
