import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ProjectChange } from "../../../../server/projects/schema.ts";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { changeProject, projectsQuery } from "../../entities/project/project-api.ts";

/** Saves a change of a project; what the server made of it is what all pages show from then on. */
export function useProjectChange(id: string, onSaved?: (project: ProjectDetails) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: ProjectChange) => changeProject(id, change),
    onSuccess: async (saved) => {
      // An older list that is still on its way would show the old settings again.
      await client.cancelQueries(projectsQuery);
      client.setQueryData(projectsQuery.queryKey, (list) => list?.map((each) => (each.id === id ? saved : each)));
      onSaved?.(saved);
    },
  });
}
