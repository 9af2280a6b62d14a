/** What people may do at the dashboard, from the least to the most. */
export const roles = ["viewer", "member", "owner"] as const;

/**
 * A viewer reads. A member does everything within projects. An owner also has what concerns the whole server: people,
 * projects and their settings, model connections, prices and backups.
 */
export type Role = (typeof roles)[number];

/** Whether a role may do what asks for at least this one. */
export const reaches = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);
