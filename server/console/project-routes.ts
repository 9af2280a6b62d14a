import { Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import { declared } from "../http/operation.ts";
import { NoBody, pathOf } from "../http/schemas.ts";
import { NewProject, ProjectChange } from "../projects/schema.ts";
import { shownProject } from "../projects/shown.ts";
import type { ProjectStore } from "../projects/store.ts";
import { allOf, Project } from "../wire/console.ts";
import { Deleted } from "../wire/schema.ts";
import { DeleteProject } from "./schema.ts";
import type { SignedIn } from "./signed-in.ts";

interface ProjectRoutes {
  signedIn: SignedIn;
  projects: ProjectStore;
}

/** Projects, for whoever is signed in: no API key reaches beyond its own. Owners change them. */
export function projectRoutes({ signedIn, projects }: ProjectRoutes) {
  /** Throws unless the name was typed: a click in the wrong place may not delete a project. */
  function requireConfirmation(id: string, name: string): void {
    if (projects.byId(id).name === name) return;
    throw new AppError("validation_failed", "To delete a project, give its name.", { param: "name" });
  }

  const params = pathOf("project");
  return new Elysia({ prefix: "/console/api/projects" })
    .use(signedIn)
    .get("/", () => ({ object: "list", data: projects.list().map(shownProject), has_more: false }), {
      role: "viewer",
      ...declared({ returns: allOf(Project) }),
    })
    .post(
      "/",
      async ({ body, visitor, status }) => status(201, shownProject(await projects.create(body.name, visitor.actor))),
      { role: "owner", body: NewProject, ...declared({ creates: Project }) },
    )
    .get("/:id", ({ params: { id } }) => shownProject(projects.byId(id)), {
      role: "viewer",
      params,
      ...declared({ returns: Project }),
    })
    .patch(
      "/:id",
      async ({ params: { id }, body, visitor }) => shownProject(await projects.update(id, body, visitor.actor)),
      { role: "owner", params, body: ProjectChange, ...declared({ returns: Project }) },
    )
    .post(
      "/:id/archive",
      async ({ params: { id }, visitor }) => shownProject(await projects.archive(id, visitor.actor)),
      { role: "owner", params, body: NoBody, ...declared({ needsRoom: false, returns: Project }) },
    )
    .post(
      "/:id/unarchive",
      async ({ params: { id }, visitor }) => shownProject(await projects.unarchive(id, visitor.actor)),
      { role: "owner", params, body: NoBody, ...declared({ returns: Project }) },
    )
    .post(
      "/:id/delete",
      async ({ params: { id }, body, visitor }) => {
        requireConfirmation(id, body.name);
        await projects.remove(id, visitor.actor);
        return { id, object: "project", deleted: true };
      },
      { role: "owner", params, body: DeleteProject, ...declared({ needsRoom: false, returns: Deleted }) },
    );
}
