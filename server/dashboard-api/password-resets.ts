import { eq, lte, or } from "drizzle-orm";
import { AppError } from "../domain/errors.ts";
import { randomToken } from "../lib/random-token.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { passwordResets, users } from "../storage/db/schema.ts";
import type { Accounts, Origin } from "./accounts.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { Mails } from "./mails.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const validFor_ms = 3_600_000;

/** Mailed links for people who forgot their password. */
export type PasswordResets = ReturnType<typeof createPasswordResets>;

export function createPasswordResets({
  db,
  audit,
  accounts,
  mails,
  throttle,
  now = Date.now,
}: StoreBase & { accounts: Accounts; mails: Mails | null; throttle: LoginThrottle }) {
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

  /** Creates a link for an account that has a password; returns null if there is none. */
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
     * Mails a link if such an account exists. Returns before the lookup, so that neither the response nor its time
     * reveals whether it does. `done` resolves once the mail is sent.
     */
    ask(emailText: string, origin: Origin): { done: Promise<boolean> } {
      if (!mails) throw new AppError("resource_not_found", "This server does not send email. Ask its operator.");
      const email = emailText.trim();
      // Throttle by recipient too, from any network, so that no mailbox is flooded.
      const wait = Math.max(throttle.take(email, origin.ip), throttle.take(email, `to ${email.toLowerCase()}`));
      if (wait > 0)
        throw new AppError("rate_limited", "Too many emails were requested. Try again later.", { retryAfter: wait });
      const done = issue(email, origin)
        .then((issued) => (issued ? mails.reset(issued.email, issued.token) : false))
        .catch(() => false);
      return { done };
    },

    /** Sets the password by a link, uses the link up, and ends the account's sessions. A second factor stays. */
    async accept({ token, password }: { token: string; password: string }, origin: Origin): Promise<void> {
      const { email } = open(token); // Check before the costly password hash, so that a stranger causes no work.
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
