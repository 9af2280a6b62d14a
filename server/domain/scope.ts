export const environments = ["test", "live"] as const;
export type Environment = (typeof environments)[number];

/** Owner of all data: a project, and within it test or live. First argument of every store function. */
export interface Scope {
  readonly project_id: string;
  readonly environment: Environment;
}

/** The columns of a scope, as values of a statement. */
export type ScopeColumns = Pick<Scope, keyof Scope>;

/** Returns a key for a scope, for example as the owner of work. */
export const nameOf = ({ project_id, environment }: Scope): string => `${project_id}:${environment}`;

export const permissions = ["read", "run", "admin"] as const;
export type Permission = (typeof permissions)[number];

/**
 * Rights of a client token for the resources that it is bound to: start runs, read them, submit outputs, score them,
 * and upload files.
 */
export const clientScopes = ["run", "read", "submit", "score", "upload"] as const;
export type ClientScope = (typeof clientScopes)[number];
