import type { OpenApi, Operation } from "../../entities/server/openapi-api.ts";

/** An operation with its method and path. */
export interface ListedOperation extends Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
}

/** A tag with its operations, in the document's order. */
interface Group {
  tag: string;
  operations: ListedOperation[];
}

/** Returns operations by tag; with a search, those whose method, path, id, summary and tags contain all its words. */
export function listOperations({ tags, paths }: OpenApi, search = ""): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase() as ListedOperation["method"],
      path,
    })),
  );
  const fits = ({ method, path, operationId, summary, tags }: ListedOperation) => {
    const text = [method, path, operationId, summary, ...tags].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return tags
    .map(({ name }) => ({ tag: name, operations: all.filter((each) => each.tags.includes(name) && fits(each)) }))
    .filter(({ operations }) => operations.length > 0);
}
