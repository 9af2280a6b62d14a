import type { Scope } from "../core/scope.ts";
import type { Seal } from "../lib/seal.ts";

/** What an HTTP tool sends and signs with. */
export interface ToolSecrets {
  headers: Record<string, string>;
  signing_secret: string;
}

// The row that the text belongs to: moved into another tool or project it does not open.
const context = ({ project_id, environment }: Scope, toolId: string) => `tool/${project_id}/${environment}/${toolId}`;

export const sealToolSecrets = (seal: Seal, scope: Scope, toolId: string, secrets: ToolSecrets): string =>
  seal.seal(JSON.stringify(secrets), context(scope, toolId));

/** The secrets of a tool or of its snapshot (`snapshot.http.sealed`); throws when the text is not this tool's. */
export const openToolSecrets = (seal: Seal, scope: Scope, toolId: string, sealed: string): ToolSecrets =>
  JSON.parse(seal.open(sealed, context(scope, toolId)));
