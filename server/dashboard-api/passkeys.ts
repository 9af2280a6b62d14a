import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { and, eq } from "drizzle-orm";
import type { Passkey } from "../domain/api-types/console.ts";
import { tooManySignIns } from "../domain/error-messages.ts";
import { AppError } from "../domain/errors.ts";
import { throwNotFound } from "../domain/not-found.ts";
import { timestamp, timestampOrNull } from "../domain/time.ts";
import { invalid } from "../http/errors.ts";
import { parseAddress } from "../lib/ip-address.ts";
import { lazy } from "../lib/lazy.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { passkeys, users } from "../storage/db/schema.ts";
import type { Origin, User } from "./accounts.ts";
import { createChallenges } from "./challenges.ts";
import { newConsoleId } from "./console-id.ts";
import type { LoginThrottle } from "./login-throttle.ts";

// Loaded at the first use of a passkey, which keeps starts fast.
const kit = lazy(() => import("@simplewebauthn/server"));

const most = 20;
type Row = typeof passkeys.$inferSelect;

/** Passkeys of people. They replace password and second factor, because the device checks a finger or a PIN. */
export type Passkeys = ReturnType<typeof createPasskeys>;

export function createPasskeys({ db, audit, throttle, now = Date.now }: StoreBase & { throttle: LoginThrottle }) {
  const { orm } = db;
  const challenges = createChallenges({ now });
  const ofUser = (userId: string): Row[] =>
    orm.select().from(passkeys).where(eq(passkeys.user_id, userId)).orderBy(passkeys.id).all();

  return {
    list: (userId: string): Passkey[] => ofUser(userId).map(toPasskey),

    /** Returns the options for `navigator.credentials.create`. `origin` is the page's. */
    async beginAdding(user: User, origin: string) {
      const known = ofUser(user.id);
      if (known.length >= most) throw new AppError("validation_failed", `An account has at most ${most} passkeys.`);
      const options = await (await kit()).generateRegistrationOptions({
        rpName: "runnel",
        rpID: rpIdOf(origin),
        userName: user.email,
        userID: new TextEncoder().encode(user.id),
        excludeCredentials: known.map(({ credential_id }) => ({ id: credential_id })),
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
      challenges.note(options.challenge, user.id);
      return options;
    },

    /** Stores the key that a device created. */
    async add(
      user: User,
      { name, response }: { name: string; response: unknown },
      origin: string,
      actor: Actor,
    ): Promise<Passkey> {
      const rp_id = rpIdOf(origin);
      const { verified, registrationInfo } = await (await kit())
        .verifyRegistrationResponse({
          response: response as RegistrationResponseJSON,
          expectedOrigin: origin,
          expectedRPID: rp_id,
          expectedChallenge: (challenge) => challenges.take(challenge, user.id),
          requireUserVerification: true,
        })
        .catch(() => ({ verified: false, registrationInfo: undefined }));
      if (!verified || !registrationInfo) throw invalid("response", "This passkey could not be verified. Try again.");
      const { credential } = registrationInfo;
      return await db.write(() => {
        const known = orm.select().from(passkeys).where(eq(passkeys.credential_id, credential.id)).get();
        if (known) throw new AppError("name_taken", "This passkey was already added.");
        const row: Row = {
          id: newConsoleId("passkey", now()),
          user_id: user.id,
          credential_id: credential.id,
          rp_id,
          name,
          public_key: Buffer.from(credential.publicKey),
          counter: credential.counter,
          created_at_ms: now(),
          last_used_at_ms: null,
        };
        orm.insert(passkeys).values(row).run();
        audit.note({ actor }, "user.passkey_added", user.id, { name });
        return toPasskey(row);
      });
    },

    remove: (user: User, id: string, actor: Actor): Promise<void> =>
      db.write(() => {
        const own = and(eq(passkeys.user_id, user.id), eq(passkeys.id, id));
        const deleted = orm.delete(passkeys).where(own).returning({ name: passkeys.name }).get() ?? throwNotFound();
        audit.note({ actor }, "user.passkey_removed", user.id, deleted);
      }),

    /** Returns the options for `navigator.credentials.get`; the device names the account. */
    async beginSignIn(origin: string) {
      const { generateAuthenticationOptions } = await kit();
      const options = await generateAuthenticationOptions({ rpID: rpIdOf(origin), userVerification: "required" });
      challenges.note(options.challenge, "");
      return options;
    },

    /** Returns the user whose device signed the response. */
    async signIn(response: { id: string }, origin: string, from: Origin): Promise<User> {
      const wait = throttle.take("(passkey)", from.ip);
      if (wait > 0) throw new AppError("rate_limited", tooManySignIns, { retryAfter: wait });
      const row = orm.select().from(passkeys).where(eq(passkeys.credential_id, response.id)).get();
      const counter = row && (await verified(row, response, origin));
      const user = await db.write(() => {
        // Read again: the key may have been removed during verification.
        const currentRow =
          row && orm.select({ counter: passkeys.counter }).from(passkeys).where(eq(passkeys.id, row.id)).get();
        const id = row?.user_id ?? "unknown";
        if (row === undefined || typeof counter !== "number" || currentRow?.counter !== row.counter) {
          audit.note({ actor: { type: "user", id, ...from } }, "user.sign_in_failed", id, { reason: "passkey" });
          return null;
        }
        orm.update(passkeys).set({ counter, last_used_at_ms: now() }).where(eq(passkeys.id, row.id)).run();
        return orm
          .select({ id: users.id, email: users.email, role: users.role })
          .from(users)
          .where(eq(users.id, id))
          .get();
      });
      if (!user) throw new AppError("invalid_login", "This passkey belongs to no account here.");
      throttle.forgive("(passkey)", from.ip);
      return user;
    },
  };

  /** Returns the device's new counter, or null if the response does not fit this key, page or challenge. */
  async function verified(row: Row, response: unknown, origin: string): Promise<number | null> {
    const { credential_id, public_key, counter, rp_id } = row;
    try {
      const { verified, authenticationInfo } = await (await kit()).verifyAuthenticationResponse({
        response: response as AuthenticationResponseJSON,
        expectedOrigin: origin,
        expectedRPID: rp_id,
        expectedChallenge: (challenge) => challenges.take(challenge, ""),
        credential: { id: credential_id, publicKey: new Uint8Array(public_key), counter },
        requireUserVerification: true,
      });
      return verified ? authenticationInfo.newCounter : null;
    } catch {
      return null;
    }
  }
}

const toPasskey = ({ id, name, created_at_ms, last_used_at_ms }: Row): Passkey => ({
  id,
  name,
  created_at: timestamp(created_at_ms),
  last_used_at: timestampOrNull(last_used_at_ms),
});

/** Returns the relying party id. Throws for an IP address, because passkeys need a domain name. */
function rpIdOf(origin: string): string {
  const { hostname } = new URL(origin);
  if (parseAddress(hostname.replace(/^\[|\]$/g, "")) === null) return hostname;
  throw new AppError(
    "validation_failed",
    `Passkeys need a name such as localhost: open the dashboard by one, not by ${hostname}.`,
  );
}
