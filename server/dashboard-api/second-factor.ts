import { createHmac } from "node:crypto";
import { and, count, eq, isNotNull } from "drizzle-orm";
import { AppError } from "../domain/errors.ts";
import { invalid } from "../http/errors.ts";
import type { Seal } from "../lib/seal.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { passkeys, recoveryCodes, sessions, totp, users } from "../storage/db/schema.ts";
import type { Origin, User } from "./accounts.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const codesAtOnce = 10;
const sealedFor = (userId: string): string => `totp ${userId}`;

/** Second factor of an account: codes of an authenticator app, and recovery codes. */
export type SecondFactor = ReturnType<typeof createSecondFactor>;

export function createSecondFactor({
  db,
  audit,
  seal,
  throttle,
  now = Date.now,
}: StoreBase & { seal: Seal; throttle: LoginThrottle }) {
  const { orm } = db;
  const secretOf = (row: { user_id: string; sealed: string }): Uint8Array =>
    Buffer.from(seal.open(row.sealed, sealedFor(row.user_id)), "base64");
  const confirmed = (userId: string) =>
    orm
      .select()
      .from(totp)
      .where(and(eq(totp.user_id, userId), isNotNull(totp.confirmed_at_ms)))
      .get();
  const codesLeft = (userId: string): number =>
    orm.select({ left: count() }).from(recoveryCodes).where(eq(recoveryCodes.user_id, userId)).get()?.left ?? 0;

  /** Replaces all recovery codes. Call inside a write. */
  function renewCodes(userId: string): string[] {
    orm.delete(recoveryCodes).where(eq(recoveryCodes.user_id, userId)).run();
    const codes = Array.from({ length: codesAtOnce }, () => base32(crypto.getRandomValues(new Uint8Array(10))));
    for (const code of codes)
      orm
        .insert(recoveryCodes)
        .values({ user_id: userId, hash: sha256Bytes(code) })
        .run();
    return codes.map((code) => [...code.matchAll(/.{4}/g)].join("-").toLowerCase());
  }

  /** Uses up a code; true if it was valid. Call inside a write. */
  function consumeCode(user: User, code: string, actor: Actor): boolean {
    const row = confirmed(user.id);
    const step = row && /^\d{6}$/.test(code) ? stepOf(secretOf(row), code, now(), row.last_step) : null;
    if (step !== null) {
      orm.update(totp).set({ last_step: step }).where(eq(totp.user_id, user.id)).run();
      return true;
    }
    const own = and(eq(recoveryCodes.user_id, user.id), eq(recoveryCodes.hash, sha256Bytes(code.toUpperCase())));
    if (!orm.delete(recoveryCodes).where(own).returning({ id: recoveryCodes.user_id }).get()) return false;
    audit.note({ actor }, "user.recovery_code_used", user.id, { left: codesLeft(user.id) });
    return true;
  }

  /** Throttles by account, not by network: a person who guesses codes knows the password already. */
  function slowDown({ id }: User): void {
    const wait = throttle.take(id, id);
    if (wait > 0) throw new AppError("rate_limited", "Too many wrong codes. Try again later.", { retryAfter: wait });
  }

  return {
    isOn: (userId: string): boolean => confirmed(userId) !== undefined,
    codesLeft,

    /** Throws unless the account needs no code, or this one is valid. */
    async require(user: User, codeText: string | undefined, origin: Origin): Promise<void> {
      if (!confirmed(user.id)) return;
      const code = codeText?.replace(/[\s-]/g, "") ?? "";
      if (code === "") throw new AppError("second_factor_required", "Give a code of your authenticator app too.");
      slowDown(user);
      const actor: Actor = { type: "user", id: user.id, ...origin };
      const isValid = await db.write(() => {
        if (consumeCode(user, code, actor)) return true;
        audit.note({ actor }, "user.sign_in_failed", user.id, { reason: "code" });
        return false;
      });
      if (!isValid) throw new AppError("invalid_code", "This code is wrong or was already used.");
      throttle.forgive(user.id, user.id);
    },

    /** Creates a secret for an authenticator app. It takes effect once `confirm` gets a code of it. */
    async begin(user: User): Promise<{ secret: string; uri: string }> {
      if (confirmed(user.id))
        throw new AppError("name_taken", "There is an authenticator app already. Remove it first.");
      const bytes = crypto.getRandomValues(new Uint8Array(20));
      const sealed = seal.seal(Buffer.from(bytes).toString("base64"), sealedFor(user.id));
      const row = { user_id: user.id, sealed, last_step: 0, confirmed_at_ms: null };
      await db.write(() => orm.insert(totp).values(row).onConflictDoUpdate({ target: totp.user_id, set: row }).run());
      const secret = base32(bytes);
      const label = encodeURIComponent(`runnel:${user.email}`);
      return { secret, uri: `otpauth://totp/${label}?secret=${secret}&issuer=runnel` };
    },

    /** Activates the app by its first code. Returns the recovery codes, which are shown only here. */
    async confirm(user: User, given: string, actor: Actor): Promise<string[]> {
      slowDown(user);
      const codes = await db.write(() => {
        const row = orm.select().from(totp).where(eq(totp.user_id, user.id)).get();
        const code = given.replace(/\s/g, "");
        const step = row?.confirmed_at_ms === null ? stepOf(secretOf(row), code, now(), 0) : null;
        if (step === null) return null;
        orm.update(totp).set({ last_step: step, confirmed_at_ms: now() }).where(eq(totp.user_id, user.id)).run();
        audit.note({ actor }, "user.totp_added", user.id);
        return renewCodes(user.id);
      });
      if (!codes) throw invalid("code", "This is not the current code of the app.");
      throttle.forgive(user.id, user.id);
      return codes;
    },

    /** Replaces the recovery codes. */
    renew: (user: User, actor: Actor): Promise<string[]> =>
      db.write(() => {
        if (!confirmed(user.id)) throw new AppError("resource_not_found", "There is no authenticator app.");
        audit.note({ actor }, "user.recovery_codes_renewed", user.id);
        return renewCodes(user.id);
      }),

    remove: (user: User, actor: Actor): Promise<void> =>
      db.write(() => {
        orm.delete(recoveryCodes).where(eq(recoveryCodes.user_id, user.id)).run();
        const deleted = orm.delete(totp).where(eq(totp.user_id, user.id)).returning({ at: totp.confirmed_at_ms }).get();
        if (deleted?.at) audit.note({ actor }, "user.totp_removed", user.id);
      }),
  };
}

/** Removes an account's second factor and passkeys, and returns which there were. Call inside a write. */
export function forgetFactors({ orm }: StoreBase["db"], userId: string): { totp: boolean; passkeys: number } {
  orm.delete(recoveryCodes).where(eq(recoveryCodes.user_id, userId)).run();
  const [app] = orm.delete(totp).where(eq(totp.user_id, userId)).returning({ at: totp.confirmed_at_ms }).all();
  const keys = orm.delete(passkeys).where(eq(passkeys.user_id, userId)).returning({ id: passkeys.id }).all();
  return { totp: Boolean(app?.at), passkeys: keys.length };
}

/** Removes an account's second factor and passkeys and ends its sessions, for operators. */
export const removeFactors = (
  { db, audit }: StoreBase,
  email: string,
  by: Actor,
): Promise<{ id: string; email: string; totp: boolean; passkeys: number }> =>
  db.write(() => {
    const byEmail = eq(users.email, email.trim());
    const user = db.orm.select({ id: users.id, email: users.email }).from(users).where(byEmail).get();
    if (!user) throw new AppError("resource_not_found", `There is no account for ${email.trim()}.`, { param: "email" });
    const gone = forgetFactors(db, user.id);
    db.orm.delete(sessions).where(eq(sessions.user_id, user.id)).run();
    audit.note({ actor: by }, "user.second_factor_removed", user.id, gone);
    return { ...user, ...gone };
  });

// RFC 6238 with the values of every authenticator app: SHA-1, 30 seconds, six digits. A library would be longer than
// this.
const step_ms = 30_000;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns the code of a 30-second step. */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const number = mac.readUInt32BE(mac.readUInt8(19) & 15) & 0x7f_ff_ff_ff;
  return String(number % 1_000_000).padStart(6, "0");
}

export const stepAt = (ms: number): number => Math.floor(ms / step_ms);

/**
 * Returns the step of a code: that of `now` or one beside it, for clocks that differ. Null if there is none after
 * `last`.
 */
export function stepOf(secret: Uint8Array, code: string, now: number, last: number): number | null {
  const steps = [-1, 0, 1].map((off) => stepAt(now) + off);
  return steps.find((step) => step > last && codeOf(secret, step) === code) ?? null;
}

/** Base32 (RFC 4648, without padding), for people to type. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}
