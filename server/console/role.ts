import type { Permission } from "../core/scope.ts";
import { type Role, roles } from "../wire/names.ts";

/** Whether a role may do what asks for at least this one. */
export const reaches = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

const admin: ReadonlySet<Permission> = new Set(["admin"]);
const read: ReadonlySet<Permission> = new Set(["read"]);

/**
 * The scopes of a role within projects, whatever the method of a request. Routes that a viewer may use beyond them say so
 * (`viewers`), because a GET can show what gives access.
 */
export const scopesOf = (role: Role): ReadonlySet<Permission> => (reaches(role, "member") ? admin : read);
