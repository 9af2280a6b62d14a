import { type Role, roles } from "../domain/api-types/enums.ts";
import type { Permission } from "../domain/scope.ts";

/** True if `role` is at least `least`. */
export const hasRole = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

const admin: ReadonlySet<Permission> = new Set(["admin"]);
const read: ReadonlySet<Permission> = new Set(["read"]);

/**
 * Scopes of a role within projects, for any request method. Routes that a viewer may use beyond them say so
 * (`viewers`), because a GET can reveal credentials.
 */
export const scopesOf = (role: Role): ReadonlySet<Permission> => (hasRole(role, "member") ? admin : read);
