import { AppError } from "../core/errors.ts";
import { timestamp, timestampOrNull } from "../core/time.ts";
import type { Actor, Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";
import { type Accounts, checkEmail, type Origin, type User } from "./accounts.ts";
import { newConsoleId } from "./console-id.ts";
import { randomToken } from "./random-token.ts";
import type { Role } from "./role.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const validFor_ms = 7 * 24 * 3_600_000;

/** A person with an account, as owners and colleagues see it. */
interface Person extends User {
  created_at: string;
  /** The newest use of an open session; null where there is none. */
  last_seen_at: string | null;
}

/** Somebody who was asked to join and has not done so yet. */
interface Invitation {
  id: string;
  email: string;
  role: Role;
  created_at: string;
  expires_at: string;
}

interface PersonRow extends User {
  created_at_ms: number;
  last_seen_at_ms: number | null;
}

interface InvitationRow extends Pick<Invitation, "id" | "email" | "role"> {
  created_at_ms: number;
  expires_at_ms: number;
}

/** Who may use the dashboard, and who was asked to. */
export type People = ReturnType<typeof createPeople>;

export function createPeople({
  db,
  audit,
  accounts,
  now = Date.now,
}: {
  db: Db;
  audit: Audit;
  accounts: Accounts;
  now?: () => number;
}) {
  const { sqlite } = db;
  const selectAll = sqlite.query<PersonRow, []>(
    `SELECT u.id, u.email, u.role, u.created_at_ms, max(s.last_seen_at_ms) AS last_seen_at_ms
     FROM users u LEFT JOIN sessions s ON s.user_id = u.id GROUP BY u.id ORDER BY u.email`,
  );
  const select = sqlite.query<User, [string]>("SELECT id, email, role FROM users WHERE id = ?");
  const otherOwner = sqlite.query("SELECT 1 FROM users WHERE role = 'owner' AND id <> ? LIMIT 1");
  const invited = sqlite.query<InvitationRow, [number]>(
    "SELECT id, email, role, created_at_ms, expires_at_ms FROM invitations WHERE expires_at_ms > ? ORDER BY id",
  );
  const byHash = sqlite.query<InvitationRow, [Uint8Array]>(
    "SELECT id, email, role, created_at_ms, expires_at_ms FROM invitations WHERE hash = ?",
  );

  const note = (action: string, type: "user" | "invitation", id: string, actor: Actor, details = {}): void =>
    audit.note({ scope: null, actor, action, target: { type, id }, details });

  function find(id: string): User {
    const user = select.get(id);
    if (!user) throw notFound();
    return user;
  }

  /** Within a write: else two owners could take each other's role at once. */
  function requireOtherOwner({ id, role }: User): void {
    if (role === "owner" && !otherOwner.get(id))
      throw new AppError("last_owner", "This is the last owner. Make somebody else an owner first.");
  }

  /** Whoever may invite nobody any more has nobody invited either. */
  const withdrawAllOf = (inviter: string): unknown =>
    sqlite.query("DELETE FROM invitations WHERE invited_by = ?").run(inviter);

  function open(token: string): InvitationRow {
    const row = byHash.get(sha256Bytes(token));
    if (row && row.expires_at_ms > now()) return row;
    throw new AppError("invitation_invalid", "This invitation does not work any more. Ask an owner for a new one.", {
      param: "token",
    });
  }

  return {
    list: (): Person[] =>
      selectAll.all().map(({ created_at_ms, last_seen_at_ms, ...user }) => ({
        ...user,
        created_at: timestamp(created_at_ms),
        last_seen_at: timestampOrNull(last_seen_at_ms),
      })),

    invitations: (): Invitation[] => invited.all(now()).map(shown),

    /** Makes a one-time link's token, which is told this once. An older invitation of the same person is void. */
    async invite(given: { email: string; role: Role }, actor: Actor): Promise<Invitation & { token: string }> {
      const [email, token] = [checkEmail(given.email), randomToken()];
      return await db.write(() => {
        if (accounts.has(email))
          throw new AppError("name_taken", `There is already an account for ${email}.`, { param: "email" });
        sqlite.query("DELETE FROM invitations WHERE email = ? OR expires_at_ms <= ?").run(email, now());
        const row = { id: newConsoleId("invitation", now()), email, role: given.role };
        const times = { created_at_ms: now(), expires_at_ms: now() + validFor_ms };
        sqlite
          .query("INSERT INTO invitations VALUES (?, ?, ?, ?, ?, ?, ?)")
          .run(row.id, sha256Bytes(token), email, row.role, actor.id, times.created_at_ms, times.expires_at_ms);
        note("invitation.created", "invitation", row.id, actor, { email, role: row.role });
        return { ...shown({ ...row, ...times }), token };
      });
    },

    async withdraw(id: string, actor: Actor): Promise<void> {
      await db.write(() => {
        if (sqlite.query("DELETE FROM invitations WHERE id = ?").run(id).changes === 0) throw notFound();
        note("invitation.withdrawn", "invitation", id, actor);
      });
    },

    /** Whom a link invites, for whoever holds it. */
    read: (token: string): Invitation => shown(open(token)),

    /** Makes the account that a link stands for. The link is used up by it. */
    async accept({ token, password }: { token: string; password: string }, origin: Origin): Promise<User> {
      const { email, role } = open(token); // Before the costly hash of a password: a stranger gets no work done.
      const themselves = (id: string): Actor => ({ type: "user", id, ...origin });
      return await accounts.create({ email, password, role }, themselves, () => {
        const { id } = open(token);
        sqlite.query("DELETE FROM invitations WHERE id = ?").run(id);
      });
    },

    /** It counts from the very next request of that person on. */
    setRole: (id: string, role: Role, actor: Actor): Promise<User> =>
      db.write(() => {
        const user = find(id);
        if (role === user.role) return user;
        requireOtherOwner(user);
        sqlite.query("UPDATE users SET role = ? WHERE id = ?").run(role, id);
        withdrawAllOf(id);
        note("user.role_changed", "user", id, actor, { email: user.email, from: user.role, to: role });
        return { ...user, role };
      }),

    /** Deletes the account and ends its sessions. What it did stays in the audit log. */
    remove: (id: string, actor: Actor): Promise<void> =>
      db.write(() => {
        const user = find(id);
        requireOtherOwner(user);
        sqlite.query("DELETE FROM users WHERE id = ?").run(id);
        withdrawAllOf(id);
        note("user.removed", "user", id, actor, { email: user.email });
      }),
  };
}

const shown = ({ created_at_ms, expires_at_ms, ...row }: InvitationRow): Invitation => ({
  ...row,
  created_at: timestamp(created_at_ms),
  expires_at: timestamp(expires_at_ms),
});
