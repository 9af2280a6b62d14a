import { AppError } from "../core/errors.ts";
import { type Role, reaches } from "./role.ts";

/** Throws 403 for a role that may do less than this one. */
export function requireRole(role: Role, least: Role): void {
  if (reaches(role, least)) return;
  throw new AppError("insufficient_role", `You are ${a(role)} here. This needs the role "${least}".`, {
    details: { required_role: least, role },
  });
}

const a = (role: Role): string => (role === "owner" ? "an owner" : `a ${role}`);
