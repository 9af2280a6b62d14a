import { queryOptions } from "@tanstack/react-query";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import type { ProjectChange } from "../../../../server/resources/projects/schema.ts";
import { get, patch, post } from "../../lib/api.ts";

/** All projects, including archived ones. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: async ({ signal }) => (await get<{ data: ProjectDetails[] }>("/console/api/projects", signal)).data,
});

const pathOf = (id: string) => `/console/api/projects/${encodeURIComponent(id)}`;

export const createProject = (name: string): Promise<ProjectDetails> => post("/console/api/projects", { name });

export const changeProject = (id: string, change: ProjectChange): Promise<ProjectDetails> => patch(pathOf(id), change);

export const archiveProject = (id: string): Promise<ProjectDetails> => post(`${pathOf(id)}/archive`);

export const unarchiveProject = (id: string): Promise<ProjectDetails> => post(`${pathOf(id)}/unarchive`);

/** The server checks the name too, so that a URL alone cannot delete a project. */
export const deleteProject = (id: string, name: string): Promise<unknown> => post(`${pathOf(id)}/delete`, { name });
