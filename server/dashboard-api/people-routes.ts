import { Elysia } from "elysia";
import { allOf, Invitation, Person, User } from "../domain/api-types/console.ts";
import type { Role } from "../domain/api-types/enums.ts";
import { Deleted } from "../domain/api-types/schema.ts";
import { withDeclaration } from "../http/operation.ts";
import { pathWith } from "../http/schemas.ts";
import type { Actor } from "../storage/db/audit.ts";
import type { Mails } from "./mails.ts";
import type { Members } from "./members.ts";
import { ConsoleId, NewInvitation, RoleChange } from "./schema.ts";
import type { SessionGuard } from "./session-guard.ts";

/** Routes for people: every member sees them, owners change them. */
export function peopleRoutes({
  signedIn,
  people,
  mails = null,
}: {
  signedIn: SessionGuard;
  people: Members;
  mails?: Mails | null;
}) {
  /** The link is returned too, so that the inviter can send it another way. */
  async function invite(invitee: { email: string; role: Role }, actor: Actor) {
    const invitation = await people.invite(invitee, actor);
    return mails ? { ...invitation, mailed: await mails.invitation(invitation) } : invitation;
  }

  const params = pathWith({ id: ConsoleId });
  return new Elysia({ prefix: "/console/api" })
    .use(signedIn)
    .get("/people", () => ({ object: "list", data: people.list(), has_more: false }), {
      role: "viewer",
      ...withDeclaration({ returns: allOf(Person) }),
    })
    .patch(
      "/people/:id",
      async ({ params: { id }, body, visitor }) => await people.setRole(id, body.role, visitor.actor),
      { role: "owner", params, body: RoleChange, ...withDeclaration({ returns: User }) },
    )
    .delete(
      "/people/:id",
      async ({ params: { id }, visitor }) => {
        await people.remove(id, visitor.actor);
        return { id, object: "person", deleted: true };
      },
      { role: "owner", params, ...withDeclaration({ returns: Deleted }) },
    )
    .get("/invitations", () => ({ object: "list", data: people.invitations(), has_more: false }), {
      role: "owner",
      ...withDeclaration({ returns: allOf(Invitation) }),
    })
    .post("/invitations", async ({ body, visitor, status }) => status(201, await invite(body, visitor.actor)), {
      role: "owner",
      body: NewInvitation,
      ...withDeclaration({ creates: Invitation }),
    })
    .delete(
      "/invitations/:id",
      async ({ params: { id }, visitor }) => {
        await people.withdraw(id, visitor.actor);
        return { id, object: "invitation", deleted: true };
      },
      { role: "owner", params, ...withDeclaration({ returns: Deleted }) },
    );
}
