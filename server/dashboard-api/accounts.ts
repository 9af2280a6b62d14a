import { and, eq, ne } from "drizzle-orm";
import type { Role } from "../domain/api-types/enums.ts";
import { tooManySignIns } from "../domain/error-messages.ts";
import { AppError } from "../domain/errors.ts";
import { invalid } from "../http/errors.ts";
import { createLogSampler } from "../lib/log-sampler.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { sessions, users } from "../storage/db/schema.ts";
import { newConsoleId } from "./console-id.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { Passwords } from "./password.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

/** A person who may use the dashboard, with a role that applies to all projects of this server. */
export type User = Pick<Row, "id" | "email" | "role">;

export interface Credentials {
  email: string;
  password: string;
}

/** IP address and request id of a person at the dashboard. */
export type Origin = Pick<Actor, "ip" | "request_id">;

type Row = typeof users.$inferSelect;

/** Name of the account by which `runnel dev` signs in. It is no person's: set-up and the last owner ignore it. */
export const developer = "developer@localhost";

export type Accounts = ReturnType<typeof createAccounts>;

export function createAccounts({
  db,
  audit,
  passwords,
  throttle,
  now = Date.now,
}: StoreBase & {
  passwords: Passwords;
  throttle: LoginThrottle;
}) {
  const { orm } = db;
  const any = db.sqlite.query("SELECT 1 FROM users WHERE email <> ? LIMIT 1");
  const byEmail = (email: string): Row | undefined =>
    orm.select().from(users).where(eq(users.email, email.trim())).get();

  /** Sets the password and ends all sessions of the account but the one of `token`. Call inside a write. */
  function setPassword(id: string, password_hash: string, token: string | null): void {
    orm.update(users).set({ password_hash }).where(eq(users.id, id)).run();
    const others = token === null ? undefined : ne(sessions.hash, sha256Bytes(token));
    orm
      .delete(sessions)
      .where(and(eq(sessions.user_id, id), others))
      .run();
  }

  const failures = createLogSampler({ ...notedFailures, now });
  function slowDown(account: string, address: string | null): void {
    const wait = throttle.take(account, address);
    if (wait > 0) throw new AppError("rate_limited", tooManySignIns, { retryAfter: wait });
  }

  /**
   * Returns the account if the password is right. Throttled like sign-in, so that an open session cannot be used to
   * guess it.
   */
  async function provePassword({ email }: User, password: string, { ip }: Actor, param: string): Promise<Row> {
    slowDown(email, ip);
    const row = byEmail(email);
    if (!row || !(await passwords.matches(password, row.password_hash || null)))
      throw invalid(param, "This is not your password.");
    throttle.forgive(email, ip);
    return row;
  }

  return {
    /** True once an account of a person exists. Until then the set-up link creates the first one. */
    exist: (): boolean => any.get(developer) !== null,

    /** Returns the account for the person at this machine, an owner whom no password signs in. For `runnel dev`. */
    async openDeveloper(actor: Actor): Promise<User> {
      const known = byEmail(developer);
      if (known) return userOf(known);
      const user: User = { id: newConsoleId("user", now()), email: developer, role: "owner" };
      await db.write(() => {
        orm
          .insert(users)
          .values({ ...user, password_hash: "", created_at_ms: now() })
          .run();
        audit.note({ actor }, "user.created", user.id, { email: user.email, role: user.role });
      });
      return user;
    },

    /** Ends the sessions of `runnel dev`, and returns whether its account exists. For a server in service. */
    async endDeveloper(): Promise<boolean> {
      const known = byEmail(developer);
      if (!known) return false;
      await db.write(() => orm.delete(sessions).where(eq(sessions.user_id, known.id)).run());
      return true;
    },

    list: (): User[] => orm.select().from(users).orderBy(users.email).all().map(userOf),

    has: (email: string): boolean => byEmail(email) !== undefined,

    /**
     * `guard` runs in the transaction that adds the account and may throw. `by` returns the actor, perhaps the new
     * account itself.
     */
    async create(
      { email, password, role = "owner" }: Credentials & { role?: Role },
      by: (id: string) => Actor,
      guard: () => void = () => {},
    ): Promise<User> {
      const address = checkEmail(email);
      checkPassword(password);
      const hash = await passwords.hash(password);
      return await db.write(() => {
        guard();
        if (byEmail(address))
          throw new AppError("name_taken", `There is already an account for ${address}.`, { param: "email" });
        const id = newConsoleId("user", now());
        orm.insert(users).values({ id, email: address, password_hash: hash, created_at_ms: now(), role }).run();
        audit.note({ actor: by(id) }, "user.created", id, { email: address, role });
        return { id, email: address, role };
      });
    },

    /** Returns the user. Throws the same error for a wrong password and for an unknown account. */
    async login({ email, password }: Credentials, origin: Origin): Promise<User> {
      const account = email.trim(); // Untrimmed, each added space would allow five more guesses.
      slowDown(account, origin.ip);
      const row = byEmail(account);
      const isValid = await passwords.matches(password, row?.password_hash || null);
      if (!row || !isValid) {
        const details = failures.take();
        // Write an audit entry for an unknown account too, because the time of the write would tell them apart. Omit
        // the typed address: it may be a password in the wrong field.
        const id = row?.id ?? "unknown";
        const by = { actor: { type: "user" as const, id, ...origin } };
        if (details) await db.write(() => audit.note(by, "user.sign_in_failed", id, details));
        throw new AppError("invalid_login", "The email address or the password is wrong.");
      }
      throttle.forgive(account, origin.ip);
      return userOf(row);
    },

    hasPassword: (id: string): boolean =>
      orm.select({ hash: users.password_hash }).from(users).where(eq(users.id, id)).get()?.hash !== "",

    /** Throws unless this is the person's own password. Required for changes that a browser left open must not make. */
    requirePassword: async (user: User, password: string, actor: Actor): Promise<void> =>
      void (await provePassword(user, password, actor, "password")),

    /** Changes a person's own password, given the old one, and ends all sessions but the one of `token`. */
    async changePassword(
      user: User,
      { current_password, password }: { current_password: string; password: string },
      token: string,
      actor: Actor,
    ): Promise<void> {
      checkPassword(password);
      const row = await provePassword(user, current_password, actor, "current_password");
      const hash = await passwords.hash(password);
      await db.write(() => {
        setPassword(row.id, hash, token);
        audit.note({ actor }, "user.password_changed", row.id);
      });
    },

    /**
     * Changes a password and ends all sessions of the account, also those of a person who knew the old one. For `guard`
     * see `create`.
     */
    async resetPassword(
      { email, password }: Credentials,
      by: (id: string) => Actor,
      guard: () => void = () => {},
    ): Promise<User> {
      checkPassword(password);
      const hash = await passwords.hash(password);
      return await db.write(() => {
        guard();
        const row = byEmail(email);
        if (!row)
          throw new AppError("resource_not_found", `There is no account for ${email.trim()}.`, { param: "email" });
        setPassword(row.id, hash, null);
        audit.note({ actor: by(row.id) }, "user.password_reset", row.id);
        return userOf(row);
      });
    },
  };
}

const userOf = ({ id, email, role }: Row): User => ({ id, email, role });

const [minPassword, maxPassword] = [12, 1024];
const notedFailures = { most: 30, window_ms: 60_000 };

function checkPassword(password: string): void {
  if (password.length < minPassword || password.length > maxPassword)
    throw invalid("password", `Must have ${minPassword} to ${maxPassword} characters.`);
}

/** Returns the address, trimmed. Throws if it is not an email address. */
export function checkEmail(text: string): string {
  const email = text.trim();
  if (email.length > 254 || !/^[^\s@<>"]+@[^\s@<>"]+$/.test(email))
    throw invalid("email", "Must be an email address such as ada@example.com.");
  return email;
}
