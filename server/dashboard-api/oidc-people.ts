import { and, eq } from "drizzle-orm";
import type { Role } from "../domain/api-types/enums.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { identities, invitations, sessions, users } from "../storage/db/schema.ts";
import { checkEmail, type Origin, type User } from "./accounts.ts";
import { newConsoleId } from "./console-id.ts";
import { type Identity, OidcRefused, type OidcSettings } from "./oidc.ts";
import { forgetFactors } from "./second-factor.ts";

/** Accounts of people who sign in at the issuer. */
export type OidcPeople = ReturnType<typeof createOidcPeople>;

export function createOidcPeople({
  db,
  audit,
  settings: { roleClaim, domains },
  now = Date.now,
}: StoreBase & { settings: Pick<OidcSettings, "roleClaim" | "domains"> }) {
  const { orm } = db;
  const user = { id: users.id, email: users.email, role: users.role };

  const bySubject = ({ issuer, subject }: Identity): User | undefined =>
    orm
      .select(user)
      .from(identities)
      .innerJoin(users, eq(users.id, identities.user_id))
      .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
      .get();

  function bind({ issuer, subject }: Identity, user_id: string): void {
    orm.insert(identities).values({ issuer, subject, user_id, created_at_ms: now() }).run();
  }

  /**
   * Links an account to an identity and removes its password and factors, so that the issuer alone decides about
   * access.
   */
  function link(found: User, identity: Identity, by: Actor): void {
    const others = and(eq(identities.user_id, found.id), eq(identities.issuer, identity.issuer));
    if (orm.select({ id: identities.user_id }).from(identities).where(others).get()) throw new OidcRefused("taken");
    bind(identity, found.id);
    forgetFactors(db, found.id);
    orm.update(users).set({ password_hash: "" }).where(eq(users.id, found.id)).run();
    orm.delete(sessions).where(eq(sessions.user_id, found.id)).run();
    audit.note({ actor: by }, "user.linked", found.id, { issuer: identity.issuer });
  }

  function create(email: string, identity: Identity, by: (id: string) => Actor): User {
    const invited = orm.select().from(invitations).where(eq(invitations.email, email)).get();
    const isOpen = invited !== undefined && invited.expires_at_ms > now();
    const role: Role | null = identity.role ?? (isOpen ? invited.role : domains.length > 0 ? "viewer" : null);
    if (role === null) throw new OidcRefused("unknown");
    const id = newConsoleId("user", now());
    orm.insert(users).values({ id, email, password_hash: "", created_at_ms: now(), role }).run();
    bind(identity, id);
    orm.delete(invitations).where(eq(invitations.email, email)).run();
    audit.note({ actor: by(id) }, "user.created", id, { email, role, issuer: identity.issuer });
    return { id, email, role };
  }

  /**
   * Applies the role of the claim, which takes effect at each sign-in. Removes the person's open invitations if they
   * may no longer invite.
   */
  function setRole(found: User, role: Role, by: Actor): User {
    if (role === found.role) return found;
    orm.update(users).set({ role }).where(eq(users.id, found.id)).run();
    orm.delete(invitations).where(eq(invitations.invited_by, found.id)).run();
    audit.note({ actor: by }, "user.role_changed", found.id, { email: found.email, from: found.role, to: role });
    return { ...found, role };
  }

  return {
    /**
     * Returns the account of an identity: the one linked to the same subject, else the one with the same verified
     * address, else a new one. Throws `OidcRefused` if the person may not sign in.
     */
    async admit(identity: Identity, origin: Origin): Promise<User> {
      if (identity.email === null) throw new OidcRefused("unverified");
      const email = addressIn(identity.email);
      const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase();
      if (domains.length > 0 && !domains.includes(domain)) throw new OidcRefused("domain");
      const by = (id: string): Actor => ({ type: "user", id, ...origin });
      const known = bySubject(identity);
      if (roleClaim !== null && identity.role === null) {
        if (known) await db.write(() => orm.delete(sessions).where(eq(sessions.user_id, known.id)).run());
        throw new OidcRefused("role");
      }
      return await db.write(() => {
        const same = bySubject(identity);
        const found = same ?? orm.select(user).from(users).where(eq(users.email, email)).get();
        if (!found) return create(email, identity, by);
        if (!same) link(found, identity, by(found.id));
        return identity.role === null ? found : setRole(found, identity.role, by(found.id));
      });
    },
  };
}

function addressIn(email: string): string {
  try {
    return checkEmail(email);
  } catch (error) {
    throw new OidcRefused("email", error);
  }
}
