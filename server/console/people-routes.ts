import { Elysia } from "elysia";
import { pathWith } from "../http/schemas.ts";
import type { People } from "./people.ts";
import { ConsoleId, NewInvitation, RoleChange } from "./schema.ts";
import type { SignedIn } from "./signed-in.ts";

/** Who may use the dashboard: everybody sees it, owners change it. */
export function peopleRoutes({ signedIn, people }: { signedIn: SignedIn; people: People }) {
  const params = pathWith({ id: ConsoleId });
  return new Elysia({ prefix: "/console/api" })
    .use(signedIn)
    .get("/people", () => ({ object: "list", data: people.list(), has_more: false }), { role: "viewer" })
    .patch(
      "/people/:id",
      async ({ params: { id }, body, visitor }) => await people.setRole(id, body.role, visitor.actor),
      { role: "owner", params, body: RoleChange },
    )
    .delete(
      "/people/:id",
      async ({ params: { id }, visitor }) => {
        await people.remove(id, visitor.actor);
        return { id, object: "person", deleted: true };
      },
      { role: "owner", params },
    )
    .get("/invitations", () => ({ object: "list", data: people.invitations(), has_more: false }), { role: "owner" })
    .post("/invitations", async ({ body, visitor, status }) => status(201, await people.invite(body, visitor.actor)), {
      role: "owner",
      body: NewInvitation,
    })
    .delete(
      "/invitations/:id",
      async ({ params: { id }, visitor }) => {
        await people.withdraw(id, visitor.actor);
        return { id, object: "invitation", deleted: true };
      },
      { role: "owner", params },
    );
}
