import { Elysia } from "elysia";
import type { Actor } from "../db/audit.ts";
import { declared } from "../http/operation.ts";
import { pathWith } from "../http/schemas.ts";
import { allOf, Invitation, Person, User } from "../wire/console.ts";
import type { Role } from "../wire/names.ts";
import { Deleted } from "../wire/schema.ts";
import type { Mails } from "./mails.ts";
import type { People } from "./people.ts";
import { ConsoleId, NewInvitation, RoleChange } from "./schema.ts";
import type { SignedIn } from "./signed-in.ts";

/** Who may use the dashboard: everybody sees it, owners change it. */
export function peopleRoutes({
  signedIn,
  people,
  mails = null,
}: {
  signedIn: SignedIn;
  people: People;
  mails?: Mails | null;
}) {
  /** The link is shown as well: who invites may send it by another way. */
  async function invite(given: { email: string; role: Role }, actor: Actor) {
    const made = await people.invite(given, actor);
    return mails ? { ...made, mailed: await mails.invitation(made) } : made;
  }

  const params = pathWith({ id: ConsoleId });
  return new Elysia({ prefix: "/console/api" })
    .use(signedIn)
    .get("/people", () => ({ object: "list", data: people.list(), has_more: false }), {
      role: "viewer",
      ...declared({ returns: allOf(Person) }),
    })
    .patch(
      "/people/:id",
      async ({ params: { id }, body, visitor }) => await people.setRole(id, body.role, visitor.actor),
      { role: "owner", params, body: RoleChange, ...declared({ returns: User }) },
    )
    .delete(
      "/people/:id",
      async ({ params: { id }, visitor }) => {
        await people.remove(id, visitor.actor);
        return { id, object: "person", deleted: true };
      },
      { role: "owner", params, ...declared({ returns: Deleted }) },
    )
    .get("/invitations", () => ({ object: "list", data: people.invitations(), has_more: false }), {
      role: "owner",
      ...declared({ returns: allOf(Invitation) }),
    })
    .post("/invitations", async ({ body, visitor, status }) => status(201, await invite(body, visitor.actor)), {
      role: "owner",
      body: NewInvitation,
      ...declared({ creates: Invitation }),
    })
    .delete(
      "/invitations/:id",
      async ({ params: { id }, visitor }) => {
        await people.withdraw(id, visitor.actor);
        return { id, object: "invitation", deleted: true };
      },
      { role: "owner", params, ...declared({ returns: Deleted }) },
    );
}
