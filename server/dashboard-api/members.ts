import { and, eq, gt, lte, max, ne, or } from "drizzle-orm";
import type { Invitation, Person } from "../domain/api-types/console.ts";
import type { Role } from "../domain/api-types/enums.ts";
import { AppError } from "../domain/errors.ts";
import { notFound, throwNotFound } from "../domain/not-found.ts";
import { timestamp, timestampOrNull } from "../domain/time.ts";
import { randomToken } from "../lib/random-token.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { invitations, sessions, users } from "../storage/db/schema.ts";
import { type Accounts, checkEmail, developer, type Origin, type User } from "./accounts.ts";
import { newConsoleId } from "./console-id.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const validFor_ms = 7 * 24 * 3_600_000;

type InvitationRow = typeof invitations.$inferSelect;

/** People who may use the dashboard, and open invitations. */
export type Members = ReturnType<typeof createMembers>;

export function createMembers({ db, audit, accounts, now = Date.now }: StoreBase & { accounts: Accounts }) {
  const { orm } = db;
  const user = { id: users.id, email: users.email, role: users.role };

  const find = (id: string): User => orm.select(user).from(users).where(eq(users.id, id)).get() ?? throwNotFound();

  /** Throws if this is the last owner. Call inside a write, so that two owners cannot remove each other at once. */
  function requireOtherOwner({ id, role }: User): void {
    const others = and(eq(users.role, "owner"), ne(users.id, id), ne(users.email, developer));
    if (role === "owner" && !orm.select(user).from(users).where(others).get())
      throw new AppError("last_owner", "This is the last owner. Make someone else an owner first.");
  }

  /** Removes a person's open invitations when they lose the right to invite. */
  const withdrawAllOf = (inviter: string): unknown =>
    orm.delete(invitations).where(eq(invitations.invited_by, inviter)).run();

  function open(token: string): InvitationRow {
    const hash = sha256Bytes(token);
    const row = orm.select().from(invitations).where(eq(invitations.hash, hash)).get();
    if (row && row.expires_at_ms > now()) return row;
    throw new AppError("invitation_invalid", "This invitation no longer works. Ask an owner for a new one.", {
      param: "token",
    });
  }

  return {
    list: (): Person[] =>
      orm
        .select({ ...user, created_at_ms: users.created_at_ms, last_seen_at_ms: max(sessions.last_seen_at_ms) })
        .from(users)
        .leftJoin(sessions, eq(sessions.user_id, users.id))
        .groupBy(users.id)
        .orderBy(users.email)
        .all()
        .map(({ created_at_ms, last_seen_at_ms, ...person }) => ({
          ...person,
          created_at: timestamp(created_at_ms),
          last_seen_at: timestampOrNull(last_seen_at_ms),
        })),

    invitations: (): Invitation[] =>
      orm
        .select()
        .from(invitations)
        .where(gt(invitations.expires_at_ms, now()))
        .orderBy(invitations.id)
        .all()
        .map(toInvitation),

    /**
     * Creates an invitation and returns its one-time token, which is shown only here. Replaces an older invitation of
     * the same person.
     */
    async invite(invitee: { email: string; role: Role }, actor: Actor): Promise<Invitation & { token: string }> {
      const [email, token] = [checkEmail(invitee.email), randomToken()];
      return await db.write(() => {
        if (accounts.has(email))
          throw new AppError("name_taken", `There is already an account for ${email}.`, { param: "email" });
        orm
          .delete(invitations)
          .where(or(eq(invitations.email, email), lte(invitations.expires_at_ms, now())))
          .run();
        const times = { created_at_ms: now(), expires_at_ms: now() + validFor_ms };
        const row = {
          id: newConsoleId("invitation", now()),
          hash: sha256Bytes(token),
          email,
          role: invitee.role,
          invited_by: actor.id,
          ...times,
        };
        orm.insert(invitations).values(row).run();
        audit.note({ actor }, "invitation.created", row.id, { email, role: row.role });
        return { ...toInvitation(row), token };
      });
    },

    async withdraw(id: string, actor: Actor): Promise<void> {
      await db.write(() => {
        if (!orm.delete(invitations).where(eq(invitations.id, id)).returning().get()) throw notFound();
        audit.note({ actor }, "invitation.withdrawn", id);
      });
    },

    /** Returns the invitation of a token. */
    read: (token: string): Invitation => toInvitation(open(token)),

    /** Creates the account of an invitation and uses the invitation up. */
    async accept({ token, password }: { token: string; password: string }, origin: Origin): Promise<User> {
      const { email, role } = open(token); // Check before the costly password hash, so that a stranger causes no work.
      const selfActor = (id: string): Actor => ({ type: "user", id, ...origin });
      return await accounts.create({ email, password, role }, selfActor, () => {
        const { id } = open(token);
        orm.delete(invitations).where(eq(invitations.id, id)).run();
      });
    },

    /** Applies from the person's next request on. */
    setRole: (id: string, role: Role, actor: Actor): Promise<User> =>
      db.write(() => {
        const user = find(id);
        if (role === user.role) return user;
        requireOtherOwner(user);
        orm.update(users).set({ role }).where(eq(users.id, id)).run();
        withdrawAllOf(id);
        audit.note({ actor }, "user.role_changed", id, { email: user.email, from: user.role, to: role });
        return { ...user, role };
      }),

    /** Deletes the account and ends its sessions. Its entries stay in the audit log. */
    remove: (id: string, actor: Actor): Promise<void> =>
      db.write(() => {
        const user = find(id);
        requireOtherOwner(user);
        orm.delete(users).where(eq(users.id, id)).run();
        withdrawAllOf(id);
        audit.note({ actor }, "user.removed", id, { email: user.email });
      }),
  };
}

const toInvitation = ({ id, email, role, created_at_ms, expires_at_ms }: InvitationRow): Invitation => ({
  id,
  email,
  role,
  created_at: timestamp(created_at_ms),
  expires_at: timestamp(expires_at_ms),
});
