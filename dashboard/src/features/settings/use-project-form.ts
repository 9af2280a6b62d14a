import { useQueryClient } from "@tanstack/react-query";
import type { ProjectChange } from "../../../../server/resources/projects/schema.ts";
import { changeProject, projectsQuery } from "../../entities/project/project-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { type FieldErrors, serverFieldErrors } from "../../lib/field-errors.ts";

/**
 * Form state of a project's settings. Edits stay until saved or discarded; unedited fields follow other people's
 * changes. The response updates all pages.
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
    /** State without edits. */
    first: Edits;
    changeOf: (edits: Edits) => ProjectChange;
    check?: (edits: Edits) => FieldErrors<Edits>;
    /** Returns the form field of an API parameter, for its error. */
    fieldOf?: (param: string) => string;
    onSaved?: () => void;
  },
) {
  const client = useQueryClient();
  const form = useForm({
    first,
    ...(check && { check }),
    blame: (error, edits) => serverFieldErrors(error, edits, fieldOf),
    send: (edits: Edits) => changeProject(id, changeOf(edits)),
    onSent: async (saved) => {
      // A list in flight would bring the old settings back.
      await client.cancelQueries(projectsQuery);
      client.setQueryData(projectsQuery.queryKey, (list) => list?.map((each) => (each.id === id ? saved : each)));
      form.restart();
      onSaved?.();
    },
  });
  return form;
}
