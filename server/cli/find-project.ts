import type { Project, ProjectStore } from "../projects/store.ts";
import { CliError } from "./exit-code.ts";

/** A project by id, else by name: an older one may bear another's id as its name. */
export function findProject(projects: Pick<ProjectStore, "list">, nameOrId: string): Project | null {
  const all = projects.list();
  return all.find(({ id }) => id === nameOrId) ?? all.find(({ name }) => name === nameOrId) ?? null;
}

/** The same, where there must be one. */
export function requireProject(projects: Pick<ProjectStore, "list">, nameOrId: string): Project {
  const known = findProject(projects, nameOrId);
  if (!known) throw new CliError(`There is no project "${nameOrId}". \`runnel projects list\` names them.`);
  return known;
}
