import { Elysia } from "elysia";
import { Factors, Passkey } from "../domain/api-types/console.ts";
import { Deleted } from "../domain/api-types/schema.ts";
import { AppError } from "../domain/errors.ts";
import { withDeclaration } from "../http/operation.ts";
import { requestOrigin } from "../http/request-origin.ts";
import { pathWith } from "../http/schemas.ts";
import type { Accounts } from "./accounts.ts";
import type { Passkeys } from "./passkeys.ts";
import { Code, ConsoleId, NewPasskey, OwnPassword } from "./schema.ts";
import type { SecondFactor } from "./second-factor.ts";
import type { SessionGuard } from "./session-guard.ts";

interface FactorRoutes {
  signedIn: SessionGuard;
  accounts: Accounts;
  secondFactor: SecondFactor;
  passkeys: Passkeys;
}

/**
 * Routes for second factors. A change requires the password again, because a browser that was left open does not have
 * it.
 */
export const factorRoutes = ({ signedIn, accounts, secondFactor, passkeys }: FactorRoutes) =>
  new Elysia({ prefix: "/console/api/account" })
    .use(signedIn)
    .get(
      "/factors",
      ({ visitor: { user } }) => ({
        password: accounts.hasPassword(user.id),
        totp: secondFactor.isOn(user.id),
        recovery_codes: secondFactor.codesLeft(user.id),
        passkeys: passkeys.list(user.id),
      }),
      { role: "viewer", ...withDeclaration({ returns: Factors }) },
    )
    .post(
      "/totp",
      async ({ body, visitor: { user, actor } }) => {
        await accounts.requirePassword(user, body.password, actor);
        return await secondFactor.begin(user);
      },
      { role: "viewer", body: OwnPassword },
    )
    .post(
      "/totp/confirm",
      async ({ body, visitor: { user, actor } }) => ({
        recovery_codes: await secondFactor.confirm(user, body.code, actor),
      }),
      { role: "viewer", body: Code },
    )
    .post(
      "/totp/remove",
      async ({ body, visitor: { user, actor } }) => {
        await accounts.requirePassword(user, body.password, actor);
        await secondFactor.remove(user, actor);
        return { removed: true };
      },
      { role: "viewer", body: OwnPassword },
    )
    .post(
      "/recovery_codes",
      async ({ body, visitor: { user, actor } }) => {
        await accounts.requirePassword(user, body.password, actor);
        return { recovery_codes: await secondFactor.renew(user, actor) };
      },
      { role: "viewer", body: OwnPassword },
    )
    .post(
      "/passkeys/begin",
      async ({ body, request, visitor: { user, actor } }) => {
        await accounts.requirePassword(user, body.password, actor);
        return { options: await passkeys.beginAdding(user, pageOf(request)) };
      },
      { role: "viewer", body: OwnPassword },
    )
    .post(
      "/passkeys",
      async ({ body, request, visitor: { user, actor }, status }) =>
        status(201, await passkeys.add(user, body, pageOf(request), actor)),
      { role: "viewer", body: NewPasskey, ...withDeclaration({ creates: Passkey }) },
    )
    .delete(
      "/passkeys/:id",
      async ({ params: { id }, visitor: { user, actor } }) => {
        await passkeys.remove(user, id, actor);
        return { id, object: "passkey", deleted: true };
      },
      { role: "viewer", params: pathWith({ id: ConsoleId }), ...withDeclaration({ returns: Deleted }) },
    );

/** Returns the origin of the page, which the browser lets a device sign. */
export function pageOf(request: Request): string {
  const origin = requestOrigin(request);
  if (!origin) throw new AppError("validation_failed", "The request names no host.");
  return origin;
}
