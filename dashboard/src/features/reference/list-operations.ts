import type { OpenApi, Operation } from "../../entities/server/openapi-api.ts";

/** An operation with its address. */
export interface Listed extends Operation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
}

/** One group of the API with its operations, in the document's order. */
interface Group {
  tag: string;
  operations: Listed[];
}

/** The operations by group; with a search, those that have all of its words in address, name or summary. */
export function listOperations({ tags, paths }: OpenApi, search = ""): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase() as Listed["method"],
      path,
    })),
  );
  const fits = ({ method, path, operationId, summary, tags }: Listed) => {
    const text = [method, path, operationId, summary, ...tags].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return tags
    .map(({ name }) => ({ tag: name, operations: all.filter((each) => each.tags.includes(name) && fits(each)) }))
    .filter(({ operations }) => operations.length > 0);
}
