import { Elysia } from "elysia";
import { allOf, OpenSession } from "../domain/api-types/console.ts";
import { Deleted } from "../domain/api-types/schema.ts";
import { withDeclaration } from "../http/operation.ts";
import { pathWith } from "../http/schemas.ts";
import type { Accounts } from "./accounts.ts";
import { ConsoleId, PasswordChange } from "./schema.ts";
import type { SessionGuard } from "./session-guard.ts";
import type { Sessions } from "./sessions.ts";

interface AccountRoutes {
  signedIn: SessionGuard;
  accounts: Accounts;
  sessions: Sessions;
}

/** Routes for a person's own account: its password and its sessions. */
export const accountRoutes = ({ signedIn, accounts, sessions }: AccountRoutes) =>
  new Elysia({ prefix: "/console/api/account" })
    .use(signedIn)
    .post(
      "/password",
      async ({ body, visitor: { user, token, actor } }) => {
        await accounts.changePassword(user, body, token, actor);
        return { changed: true };
      },
      { role: "viewer", body: PasswordChange },
    )
    .get(
      "/sessions",
      ({ visitor: { user, token } }) => ({ object: "list", data: sessions.list(user.id, token), has_more: false }),
      { role: "viewer", ...withDeclaration({ returns: allOf(OpenSession) }) },
    )
    .delete(
      "/sessions",
      async ({ visitor: { user, token, actor } }) => ({ ended: await sessions.endOthers(user.id, token, actor) }),
      { role: "viewer" },
    )
    .delete(
      "/sessions/:id",
      async ({ params: { id }, visitor: { user, actor } }) => {
        await sessions.end(user.id, id, actor);
        return { id, object: "session", deleted: true };
      },
      { role: "viewer", params: pathWith({ id: ConsoleId }), ...withDeclaration({ returns: Deleted }) },
    );
