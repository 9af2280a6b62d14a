import type { Project, ProjectStore } from "../../resources/projects/store.ts";
import { CliError } from "./exit-code.ts";

/** Finds a project by id, otherwise by name: an older project may have another one's id as its name. */
export function findProject(projects: ProjectStore, nameOrId: string): Project | null {
  const all = projects.list();
  return all.find(({ id }) => id === nameOrId) ?? all.find(({ name }) => name === nameOrId) ?? null;
}

/** Finds a project. Throws if there is none. */
export function requireProject(projects: ProjectStore, nameOrId: string): Project {
  const known = findProject(projects, nameOrId);
  if (!known) throw new CliError(`There is no project "${nameOrId}". \`runnel projects list\` names them.`);
  return known;
}
