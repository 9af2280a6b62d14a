import { queryOptions } from "@tanstack/react-query";
import type { UnknownPrice } from "../../../../server/core/budget.ts";
import type { DayBudget, ProjectLimits } from "../../../../server/core/project-settings.ts";
import { get, patch, post } from "../../lib/api.ts";
import type { Mode } from "../../lib/types.ts";

type Value = number | null;

/**
 * A project with its settings. A limit of null is the default and 0 is none; days of null are for ever; a budget of null
 * is none.
 */
export interface ProjectDetails {
  id: string;
  name: string;
  created_at: string;
  archived_at: string | null;
  limits: Record<keyof ProjectLimits, Value>;
  retention: Record<Mode, { runs_days: Value; traces_days: Value }>;
  budget_per_day: Record<keyof DayBudget, Value>;
  unknown_price: UnknownPrice;
}

/** What is not named stays as it is. */
export interface ProjectChange {
  name?: string;
  limits?: object;
  retention?: object;
  budget_per_day?: object;
  unknown_price?: UnknownPrice;
}

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
