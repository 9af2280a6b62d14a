import { eq, lte, or } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import type { Actor, StoreBase } from "../db/audit.ts";
import { passwordResets, users } from "../db/schema.ts";
import { randomToken } from "../lib/random-token.ts";
import type { Accounts, Origin } from "./accounts.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { Mails } from "./mails.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const validFor_ms = 3_600_000;

/** Links by mail for those who have forgotten their password. */
export type PasswordResets = ReturnType<typeof createPasswordResets>;

export function createPasswordResets({
  db,
  audit,
  accounts,
  mails,
  throttle,
  now = Date.now,
}: StoreBase & { accounts: Pick<Accounts, "resetPassword">; mails: Mails | null; throttle: LoginThrottle }) {
  const { orm } = db;

  function open(token: string): { email: string } {
    const row = orm
      .select({ email: users.email, until: passwordResets.expires_at_ms })
      .from(passwordResets)
      .innerJoin(users, eq(users.id, passwordResets.user_id))
      .where(eq(passwordResets.hash, sha256Bytes(token)))
      .get();
    if (row && row.until > now()) return row;
    throw new AppError("reset_invalid", "This link no longer works. Request a new one.", { param: "token" });
  }

  /** A link for an account that has a password; null: there is none. */
  const issue = (email: string, origin: Origin): Promise<{ email: string; token: string } | null> =>
    db.write(() => {
      const user = orm.select().from(users).where(eq(users.email, email)).get();
      if (!user || user.password_hash === "") return null;
      const token = randomToken();
      const old = or(eq(passwordResets.user_id, user.id), lte(passwordResets.expires_at_ms, now()));
      orm.delete(passwordResets).where(old).run();
      const row = { hash: sha256Bytes(token), user_id: user.id, expires_at_ms: now() + validFor_ms };
      orm.insert(passwordResets).values(row).run();
      const actor: Actor = { type: "user", id: "unknown", ...origin };
      audit.note({ actor }, "user.password_reset_asked", user.id);
      return { email: user.email, token };
    });

  return {
    /**
     * Sends a link where there is such an account. Returns before anything is looked up: who asks learns by neither the
     * answer nor its time whether there is one. `done` is for whoever waits for the mail.
     */
    ask(given: string, origin: Origin): { done: Promise<boolean> } {
      if (!mails) throw new AppError("resource_not_found", "This server does not send email. Ask its operator.");
      const email = given.trim();
      // Of the address too, from wherever it is asked: nobody's mailbox is filled.
      const wait = Math.max(throttle.take(email, origin.ip), throttle.take(email, `to ${email.toLowerCase()}`));
      if (wait > 0)
        throw new AppError("rate_limited", "Too many emails were requested. Try again later.", { retryAfter: wait });
      const done = issue(email, origin)
        .then((made) => (made ? mails.reset(made.email, made.token) : false))
        .catch(() => false);
      return { done };
    },

    /** Sets the password by a link, which is used up, and ends the account's sessions. A second factor stays. */
    async accept({ token, password }: { token: string; password: string }, origin: Origin): Promise<void> {
      const { email } = open(token); // Before the costly hash of a password: a stranger gets no work done.
      const by = (id: string): Actor => ({ type: "user", id, ...origin });
      await accounts.resetPassword({ email, password }, by, () => {
        open(token);
        orm
          .delete(passwordResets)
          .where(eq(passwordResets.hash, sha256Bytes(token)))
          .run();
      });
    },
  };
}
