import { queryOptions } from "@tanstack/react-query";
import type { ProjectChange } from "../../../../server/projects/schema.ts";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { get, patch, post } from "../../lib/api.ts";

/** All projects, the archived ones too. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: async ({ signal }) => (await get<{ data: ProjectDetails[] }>("/console/api/projects", signal)).data,
});

const pathOf = (id: string) => `/console/api/projects/${encodeURIComponent(id)}`;

export const createProject = (name: string): Promise<ProjectDetails> => post("/console/api/projects", { name });

export const changeProject = (id: string, change: ProjectChange): Promise<ProjectDetails> => patch(pathOf(id), change);

export const archiveProject = (id: string): Promise<ProjectDetails> => post(`${pathOf(id)}/archive`);

export const unarchiveProject = (id: string): Promise<ProjectDetails> => post(`${pathOf(id)}/unarchive`);

/** The server asks for the name too: nobody deletes a project by an address alone. */
export const deleteProject = (id: string, name: string): Promise<unknown> => post(`${pathOf(id)}/delete`, { name });
