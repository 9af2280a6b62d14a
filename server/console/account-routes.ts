import { Elysia } from "elysia";
import { declared } from "../http/operation.ts";
import { pathWith } from "../http/schemas.ts";
import { allOf, OpenSession } from "../wire/console.ts";
import { Deleted } from "../wire/schema.ts";
import type { Accounts } from "./accounts.ts";
import { ConsoleId, PasswordChange } from "./schema.ts";
import type { Sessions } from "./sessions.ts";
import type { SignedIn } from "./signed-in.ts";

interface AccountRoutes {
  signedIn: SignedIn;
  accounts: Accounts;
  sessions: Sessions;
}

/** What everybody does with the own account: its password, and where it is signed in. */
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
      { role: "viewer", ...declared({ returns: allOf(OpenSession) }) },
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
      { role: "viewer", params: pathWith({ id: ConsoleId }), ...declared({ returns: Deleted }) },
    );
