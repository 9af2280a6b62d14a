import type { Database } from "bun:sqlite";
import { AppError, type Fault } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import { fault } from "./errors.ts";

/** What is wrong with a name that people read, as a list of one, or none: it may hold anything that can be seen. */
export function nameFaults(name: string | undefined): Fault[] {
  if (name === undefined) return [];
  if (name.trim() === "") return [fault("name", "Expected more than spaces.")];
  if (name.length > 128) return [fault("name", "Expected at most 128 characters.")];
  // On a terminal they could hide the line of a key, or show another one in its place.
  return /\p{Cc}/u.test(name) ? [fault("name", "Control characters are not allowed.")] : [];
}

/** Throws for a name that another one of the table has. */
export function createNameCheck(sqlite: Database, table: "suites" | "tools", what: string) {
  const named = sqlite.query<{ id: string }, [string, string, string]>(
    `SELECT id FROM ${table} WHERE project_id = ? AND environment = ? AND name = ?`,
  );
  return ({ project_id, environment }: Scope, name: string, id: string | null): void => {
    const taken = named.get(project_id, environment, name);
    if (taken && taken.id !== id)
      throw new AppError("name_taken", `There is already a ${what} "${name}".`, { param: "name" });
  };
}
