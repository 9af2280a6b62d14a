export const environments = ["test", "live"] as const;
export type Environment = (typeof environments)[number];

/** What everything belongs to: a project, and there test or live. The first argument of every store function. */
export interface Scope {
  readonly project_id: string;
  readonly environment: Environment;
}

/** The name of a scope where it is one of many: as the owner of work, say. */
export const nameOf = ({ project_id, environment }: Scope): string => `${project_id}:${environment}`;

export const permissions = ["read", "run", "admin"] as const;
export type Permission = (typeof permissions)[number];

/** What a client token may do with what it is bound to: start runs, read them, answer what they ask for, score them, and give them files. */
export const clientScopes = ["run", "read", "submit", "score", "upload"] as const;
export type ClientScope = (typeof clientScopes)[number];
