import { eq } from "drizzle-orm";
import { AppError } from "../domain/errors.ts";
import { randomToken } from "../lib/random-token.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { setupTokens } from "../storage/db/schema.ts";
import type { Accounts, Credentials, Origin, User } from "./accounts.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const validFor_ms = 30 * 60_000;

/** One-time link that creates the first account. */
export type Setup = ReturnType<typeof createSetup>;

export function createSetup({
  db,
  audit,
  accounts,
  localAccounts = true,
  now = Date.now,
}: StoreBase & { accounts: Accounts; localAccounts?: boolean }) {
  function check(hash: Uint8Array): void {
    if (accounts.exist()) throw new AppError("setup_done", "There is an account already. Sign in with it.");
    const row = db.orm.select().from(setupTokens).where(eq(setupTokens.hash, hash)).get();
    if (!row) throw new AppError("setup_token_invalid", "This set-up link is not valid.", { param: "token" });
    if (row.expires_at_ms <= now())
      throw new AppError(
        "setup_token_expired",
        'This set-up link is too old. "runnel admin setup-link" makes a new one.',
        { param: "token" },
      );
  }

  return {
    required: (): boolean => localAccounts && !accounts.exist(),

    /** Returns a new token and voids older ones. */
    async issue(actor: Actor): Promise<string> {
      const token = randomToken();
      await db.write(() => {
        db.orm.delete(setupTokens).run();
        db.orm
          .insert(setupTokens)
          .values({ hash: sha256Bytes(token), expires_at_ms: now() + validFor_ms })
          .run();
        audit.note({ actor }, "setup_link.issued", null);
      });
      return token;
    },

    /**
     * Creates the first account. Of concurrent calls exactly one succeeds: the check is repeated in the transaction.
     */
    async complete({ token, ...credentials }: Credentials & { token: string }, origin: Origin): Promise<User> {
      const hash = sha256Bytes(token);
      check(hash); // Check before the costly password hash, so that a stranger causes no work.
      const selfActor = (id: string): Actor => ({ type: "user", id, ...origin });
      return await accounts.create(credentials, selfActor, () => {
        check(hash);
        db.orm.delete(setupTokens).run();
      });
    },
  };
}

/** Address of the set-up page. The token follows `#`, so that it is never sent to a server or logged. */
export const setupLink = (address: string, token: string): string => `${address}/dashboard/setup#${token}`;
