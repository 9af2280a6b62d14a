import { AppError } from "../core/errors.ts";
import type { Actor, Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { fault, validationError } from "../http/errors.ts";
import { createSample } from "../lib/sample.ts";
import { newConsoleId } from "./console-id.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { Passwords } from "./password.ts";
import type { Role } from "./role.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

/** A person who may use the dashboard: all projects of this server, as far as the role goes. */
export interface User {
  id: string;
  email: string;
  role: Role;
}

export interface Credentials {
  email: string;
  password: string;
}

/** Where a person sits who is at the dashboard. */
export type Origin = Pick<Actor, "ip" | "request_id">;

interface Row extends User {
  password_hash: string;
}

export type Accounts = ReturnType<typeof createAccounts>;

export function createAccounts({
  db,
  audit,
  passwords,
  throttle,
  now = Date.now,
}: {
  db: Db;
  audit: Audit;
  passwords: Passwords;
  throttle: LoginThrottle;
  now?: () => number;
}) {
  const byEmail = db.sqlite.query<Row, [string]>("SELECT id, email, role, password_hash FROM users WHERE email = ?");
  const any = db.sqlite.query("SELECT 1 FROM users LIMIT 1");
  const insert = db.sqlite.query(
    "INSERT INTO users (id, email, password_hash, created_at_ms, role) VALUES (?, ?, ?, ?, ?)",
  );
  const setPassword = db.sqlite.query("UPDATE users SET password_hash = ? WHERE id = ?");

  const failures = createSample({ ...notedFailures, now });
  const note = (action: string, id: string, actor: Actor, details = {}): void =>
    audit.note({ scope: null, actor, action, target: { type: "user", id }, details });
  function slowDown(account: string, address: string | null): void {
    const wait = throttle.take(account, address);
    if (wait > 0) throw new AppError("rate_limited", "Too many failed sign-ins. Wait a while.", { retryAfter: wait });
  }

  return {
    /** Whether anybody has an account: until then the set-up link makes the first one. */
    exist: (): boolean => any.get() !== null,

    list: (): User[] => db.sqlite.query<User, []>("SELECT id, email, role FROM users ORDER BY email").all(),

    has: (email: string): boolean => byEmail.get(email.trim()) !== null,

    /** `guard` runs in the transaction that adds the account and may refuse it. `by` says who adds it: perhaps itself. */
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
        if (byEmail.get(address))
          throw new AppError("name_taken", `There is already an account for ${address}.`, { param: "email" });
        const id = newConsoleId("user", now());
        insert.run(id, address, hash, now(), role);
        note("user.created", id, by(id), { email: address, role });
        return { id, email: address, role };
      });
    },

    /** Says who it is, or throws the one answer for a wrong password and for an account that is not there. */
    async login({ email, password }: Credentials, origin: Origin): Promise<User> {
      const account = email.trim(); // Or each space before it would give five more guesses.
      slowDown(account, origin.ip);
      const row = byEmail.get(account);
      if (!(await passwords.matches(password, row?.password_hash ?? null))) {
        const details = failures.take();
        // Of an account that is not there too: the time that the write takes would tell. Not by what was typed, which
        // may be a password in the wrong field.
        const id = row?.id ?? "unknown";
        if (details) await db.write(() => note("user.sign_in_failed", id, { type: "user", id, ...origin }, details));
        throw new AppError("invalid_login", "The e-mail address or the password is wrong.");
      }
      throttle.forgive(account, origin.ip);
      return { id: row!.id, email: row!.email, role: row!.role };
    },

    /** Changes one's own password, once the old one was given, and ends all sessions but the one that `token` opened. */
    async changePassword(
      { email }: User,
      { current_password, password }: { current_password: string; password: string },
      token: string,
      actor: Actor,
    ): Promise<void> {
      checkPassword(password);
      slowDown(email, actor.ip); // Whoever finds a browser left open may not guess at its owner's password either.
      const row = byEmail.get(email);
      if (!row || !(await passwords.matches(current_password, row.password_hash)))
        throw validationError([fault("current_password", "This is not your password.")]);
      throttle.forgive(email, actor.ip);
      const hash = await passwords.hash(password);
      await db.write(() => {
        setPassword.run(hash, row.id);
        db.sqlite.query("DELETE FROM sessions WHERE user_id = ? AND hash <> ?").run(row.id, sha256Bytes(token));
        note("user.password_changed", row.id, actor);
      });
    },

    /** Changes a password and ends all sessions of the account: whoever knew the old one is out. */
    async resetPassword({ email, password }: Credentials, by: (id: string) => Actor): Promise<User> {
      checkPassword(password);
      const hash = await passwords.hash(password);
      return await db.write(() => {
        const row = byEmail.get(email.trim());
        if (!row)
          throw new AppError("resource_not_found", `There is no account for ${email.trim()}.`, { param: "email" });
        setPassword.run(hash, row.id);
        db.sqlite.query("DELETE FROM sessions WHERE user_id = ?").run(row.id);
        note("user.password_reset", row.id, by(row.id));
        return { id: row.id, email: row.email, role: row.role };
      });
    },
  };
}

const [minPassword, maxPassword] = [12, 1024];
const notedFailures = { most: 30, window_ms: 60_000 };

function checkPassword(password: string): void {
  if (password.length < minPassword || password.length > maxPassword)
    throw validationError([fault("password", `Expected ${minPassword} to ${maxPassword} characters.`)]);
}

/** The address without spaces round it. Throws for what is none. */
export function checkEmail(text: string): string {
  const email = text.trim();
  if (email.length > 254 || !/^[^\s@<>"]+@[^\s@<>"]+$/.test(email))
    throw validationError([fault("email", "Expected an e-mail address such as ada@example.com.")]);
  return email;
}
