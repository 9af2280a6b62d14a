import type { Database } from "bun:sqlite";
import { controlCharacters, onlySpaces } from "../domain/error-messages.ts";
import { AppError, type Fault } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import { fault } from "./errors.ts";

/** Returns the issue with a display name, or an empty list. Any printable text is valid. */
export function nameIssues(name: string | undefined): Fault[] {
  if (name === undefined) return [];
  if (name.trim() === "") return [fault("name", onlySpaces)];
  if (name.length > 128) return [fault("name", "Must have at most 128 characters.")];
  // Control characters could hide or fake lines on a terminal.
  return /\p{Cc}/u.test(name) ? [fault("name", controlCharacters)] : [];
}

/** Creates a check that throws if another row has the name. */
export function createNameValidator(sqlite: Database, table: "suites" | "tools", what: string) {
  const findNamed = sqlite.query<{ id: string }, [string, string, string]>(
    `SELECT id FROM ${table} WHERE project_id = ? AND environment = ? AND name = ?`,
  );
  return ({ project_id, environment }: Scope, name: string, id: string | null): void => {
    const existing = findNamed.get(project_id, environment, name);
    if (existing && existing.id !== id)
      throw new AppError("name_taken", `There is already a ${what} "${name}".`, { param: "name" });
  };
}
