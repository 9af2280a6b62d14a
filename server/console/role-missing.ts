import { AppError } from "../core/errors.ts";
import type { Role } from "../wire/names.ts";

/** What somebody is told who may do less than this takes. */
export const roleMissing = (role: Role, least: Role): AppError =>
  new AppError("insufficient_role", `You are ${a(role)} here. This needs the role "${least}".`, {
    details: { required_role: least, role },
  });

const a = (role: Role): string => (role === "owner" ? "an owner" : `a ${role}`);
