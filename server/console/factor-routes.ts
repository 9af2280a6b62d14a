import { Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import { declared } from "../http/operation.ts";
import { originOf } from "../http/own-origin.ts";
import { pathWith } from "../http/schemas.ts";
import { Factors, Passkey } from "../wire/console.ts";
import { Deleted } from "../wire/schema.ts";
import type { Accounts } from "./accounts.ts";
import type { Passkeys } from "./passkeys.ts";
import { Code, ConsoleId, NewPasskey, OwnPassword } from "./schema.ts";
import type { SecondFactor } from "./second-factor.ts";
import type { SignedIn } from "./signed-in.ts";

interface FactorRoutes {
  signedIn: SignedIn;
  accounts: Pick<Accounts, "hasPassword" | "requirePassword">;
  secondFactor: SecondFactor;
  passkeys: Passkeys;
}

/** What somebody has beside the password. A change takes the password again: a browser that was left open has none. */
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
      { role: "viewer", ...declared({ returns: Factors }) },
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
      { role: "viewer", body: NewPasskey, ...declared({ creates: Passkey }) },
    )
    .delete(
      "/passkeys/:id",
      async ({ params: { id }, visitor: { user, actor } }) => {
        await passkeys.remove(user, id, actor);
        return { id, object: "passkey", deleted: true };
      },
      { role: "viewer", params: pathWith({ id: ConsoleId }), ...declared({ returns: Deleted }) },
    );

/** The origin of the page that asks, which the browser lets a device sign. */
export function pageOf(request: Request): string {
  const origin = originOf(request);
  if (!origin) throw new AppError("validation_failed", "The request names no host.");
  return origin;
}
