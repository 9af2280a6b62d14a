import { Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import type { Actor } from "../db/audit.ts";
import { readJsonBody } from "../http/json-body.ts";
import { pathOf } from "../http/schemas.ts";
import { NewProject, ProjectChange } from "../projects/schema.ts";
import { shownProject } from "../projects/shown.ts";
import type { ProjectStore } from "../projects/store.ts";
import type { User } from "./accounts.ts";
import { missingSession } from "./auth.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { DeleteProject, Nothing } from "./schema.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import type { Setup } from "./setup.ts";

export interface ProjectRoutes {
  sessions: Sessions;
  setup: Pick<Setup, "required">;
  cookie: SessionCookie;
  projects: ProjectStore;
  clientOf: (request: Request) => string | null;
}

/** Projects, for whoever is signed in: no API key reaches beyond its own. */
export function projectRoutes({ sessions, setup, cookie, projects, clientOf }: ProjectRoutes) {
  const users = new WeakMap<Request, Actor>();

  function admit(request: Request, headers: Record<string, string | number>): void {
    requireSameOrigin(request);
    const user: User | null = sessions.use(cookie.read(request));
    if (!user) throw missingSession(setup.required());
    const request_id = String(headers["x-request-id"] ?? "") || null;
    users.set(request, { type: "user", id: user.id, ip: clientOf(request), request_id });
  }

  /** Throws unless the name was typed: a click in the wrong place may not delete a project. */
  function requireConfirmation(id: string, name: string): void {
    if (projects.byId(id).name === name) return;
    throw new AppError("validation_failed", "To delete a project, give its name.", { param: "name" });
  }

  const params = pathOf("project");
  return new Elysia({ prefix: "/console/api/projects" })
    .macro({
      signedIn: {
        // Before validation, as at every door: a stranger learns nothing of what the routes take.
        async parse({ request, set }: { request: Request; set: { headers: object } }) {
          admit(request, set.headers as Record<string, string>);
          return await readJsonBody(request);
        },
        transform({ request, set }: { request: Request; set: { headers: object } }) {
          if (!users.has(request)) admit(request, set.headers as Record<string, string>);
        },
        resolve: ({ request }: { request: Request }) => ({ actor: users.get(request)! }),
      },
    })
    .get("/", () => ({ object: "list", data: projects.list().map(shownProject), has_more: false }), { signedIn: true })
    .post("/", async ({ body, actor, status }) => status(201, shownProject(await projects.create(body.name, actor))), {
      signedIn: true,
      body: NewProject,
    })
    .get("/:id", ({ params: { id } }) => shownProject(projects.byId(id)), { signedIn: true, params })
    .patch("/:id", async ({ params: { id }, body, actor }) => shownProject(await projects.update(id, body, actor)), {
      signedIn: true,
      params,
      body: ProjectChange,
    })
    .post("/:id/archive", async ({ params: { id }, actor }) => shownProject(await projects.archive(id, actor)), {
      signedIn: true,
      params,
      body: Nothing,
    })
    .post("/:id/unarchive", async ({ params: { id }, actor }) => shownProject(await projects.unarchive(id, actor)), {
      signedIn: true,
      params,
      body: Nothing,
    })
    .post(
      "/:id/delete",
      async ({ params: { id }, body, actor }) => {
        requireConfirmation(id, body.name);
        await projects.remove(id, actor);
        return { id, object: "project", deleted: true };
      },
      { signedIn: true, params, body: DeleteProject },
    );
}
