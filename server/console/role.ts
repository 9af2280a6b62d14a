import { type Role, roles } from "../wire/names.ts";

/** Whether a role may do what asks for at least this one. */
export const reaches = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);
