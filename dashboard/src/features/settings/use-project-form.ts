import { useQueryClient } from "@tanstack/react-query";
import type { ProjectChange } from "../../../../server/projects/schema.ts";
import { changeProject, projectsQuery } from "../../entities/project/project-api.ts";
import { type Faults, serverFaults } from "../../lib/fault-of.ts";
import { useForm } from "../../lib/use-form.ts";

/**
 * A form of what is edited of a project. It stays until it is saved or discarded, whatever else changes; what is not
 * edited stays as others save it. What the server made of it is what all pages show from then on.
 */
export function useProjectForm<Edits extends object>(
  id: string,
  {
    first,
    changeOf,
    check,
    fieldOf,
    onSaved,
  }: {
    /** Nothing edited. */
    first: Edits;
    changeOf: (edits: Edits) => ProjectChange;
    check?: (edits: Edits) => Faults<Edits>;
    /** The field that shows what is wrong with a parameter. */
    fieldOf?: (param: string) => string;
    onSaved?: () => void;
  },
) {
  const client = useQueryClient();
  const form = useForm({
    first,
    ...(check && { check }),
    blame: (error, edits) => serverFaults(error, edits, fieldOf),
    send: (edits: Edits) => changeProject(id, changeOf(edits)),
    onSent: async (saved) => {
      // An older list that is still on its way would show the old settings again.
      await client.cancelQueries(projectsQuery);
      client.setQueryData(projectsQuery.queryKey, (list) => list?.map((each) => (each.id === id ? saved : each)));
      form.restart();
      onSaved?.();
    },
  });
  return form;
}
