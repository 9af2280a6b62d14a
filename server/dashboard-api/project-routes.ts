import { Elysia } from "elysia";
import { allOf, Project } from "../domain/api-types/console.ts";
import { Deleted } from "../domain/api-types/schema.ts";
import { AppError } from "../domain/errors.ts";
import { withDeclaration } from "../http/operation.ts";
import { EmptyBody, pathOf } from "../http/schemas.ts";
import { NewProject, ProjectChange } from "../resources/projects/schema.ts";
import { serializeProject } from "../resources/projects/shown.ts";
import type { ProjectStore } from "../resources/projects/store.ts";
import { DeleteProject } from "./schema.ts";
import type { SessionGuard } from "./session-guard.ts";

interface ProjectRoutes {
  signedIn: SessionGuard;
  projects: ProjectStore;
}

/**
 * Routes for projects: every member sees them, owners change them. API keys cannot, because each is limited to its
 * project.
 */
export function projectRoutes({ signedIn, projects }: ProjectRoutes) {
  /** Throws unless the name was typed, so that a stray click cannot delete a project. */
  function requireConfirmation(id: string, name: string): void {
    if (projects.byId(id).name === name) return;
    throw new AppError("validation_failed", "To delete a project, give its name.", { param: "name" });
  }

  const params = pathOf("project");
  return new Elysia({ prefix: "/console/api/projects" })
    .use(signedIn)
    .get("/", () => ({ object: "list", data: projects.list().map(serializeProject), has_more: false }), {
      role: "viewer",
      ...withDeclaration({ returns: allOf(Project) }),
    })
    .post(
      "/",
      async ({ body, visitor, status }) =>
        status(201, serializeProject(await projects.create(body.name, visitor.actor))),
      { role: "owner", body: NewProject, ...withDeclaration({ creates: Project }) },
    )
    .get("/:id", ({ params: { id } }) => serializeProject(projects.byId(id)), {
      role: "viewer",
      params,
      ...withDeclaration({ returns: Project }),
    })
    .patch(
      "/:id",
      async ({ params: { id }, body, visitor }) => serializeProject(await projects.update(id, body, visitor.actor)),
      { role: "owner", params, body: ProjectChange, ...withDeclaration({ returns: Project }) },
    )
    .post(
      "/:id/archive",
      async ({ params: { id }, visitor }) => serializeProject(await projects.archive(id, visitor.actor)),
      { role: "owner", params, body: EmptyBody, ...withDeclaration({ needsRoom: false, returns: Project }) },
    )
    .post(
      "/:id/unarchive",
      async ({ params: { id }, visitor }) => serializeProject(await projects.unarchive(id, visitor.actor)),
      { role: "owner", params, body: EmptyBody, ...withDeclaration({ returns: Project }) },
    )
    .post(
      "/:id/delete",
      async ({ params: { id }, body, visitor }) => {
        requireConfirmation(id, body.name);
        await projects.remove(id, visitor.actor);
        return { id, object: "project", deleted: true };
      },
      { role: "owner", params, body: DeleteProject, ...withDeclaration({ needsRoom: false, returns: Deleted }) },
    );
}
