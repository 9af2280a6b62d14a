import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import { lengthWithValues, referencesIn, withValues } from "../../domain/secret-reference.ts";
import type { Seal } from "../../lib/seal.ts";
import type { ToolSecrets } from "../../runtime/agent-loop/messages.ts";
import { secretsFault, tooManySecrets } from "../../runtime/agent-loop/tools/secret-texts.ts";

/** Encrypted part of a tool: its headers (e-mail: its password) and query as written, and its signing secret, if any. */
interface SealedSecrets {
  headers: Record<string, string>;
  /** Absent: none. */
  query?: Record<string, string>;
  signing_secret: string;
}

/** Encrypted secrets of a pinned tool; null if it has none. */
export const sealedOf = (tool: ToolSnapshot): string | null =>
  (tool.type === "mcp" ? tool.mcp : tool.type === "email" ? tool.email : tool.http)?.sealed ?? null;

// Sealing context: secrets that are copied to another tool or project do not open.
const context = ({ project_id, environment }: Scope, toolId: string) => `tool/${project_id}/${environment}/${toolId}`;

export const sealToolSecrets = (seal: Seal, scope: Scope, toolId: string, secrets: SealedSecrets): string =>
  seal.seal(JSON.stringify(secrets), context(scope, toolId));

/** Decrypts the secrets of a tool or its snapshot (`sealedOf`). Throws if they are of another tool. */
export const openToolSecrets = (seal: Seal, scope: Scope, toolId: string, sealed: string): SealedSecrets =>
  JSON.parse(seal.open(sealed, context(scope, toolId)));

/** Resolves the headers' references to current values. If they are too many or too long, only reports that. */
export function resolveToolSecrets(
  { headers, query = {}, signing_secret }: SealedSecrets,
  read: (name: string) => string | null,
): ToolSecrets {
  const all = [...Object.values(headers), ...Object.values(query)];
  const names = [...new Set(all.flatMap(referencesIn))];
  const found = names.map((name) => [name, read(name)] as const);
  const values = Object.fromEntries(found.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
  const tooMany: ToolSecrets = { headers: {}, signing_secret, fault: tooManySecrets };
  // Checked before replacing: a long value may be referenced many times in every header.
  const length = all.reduce((sum, text) => sum + lengthWithValues(text, values), 0);
  if (length > limits.tool_secrets_length) return tooMany;
  const resolved = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, withValues(text, values)]));
  const secrets: ToolSecrets = {
    headers: resolved(headers),
    ...(Object.keys(query).length > 0 && { query: resolved(query) }),
    signing_secret,
    ...(names.length > 0 && {
      named: { values: Object.values(values), missing: names.filter((name) => !Object.hasOwn(values, name)) },
    }),
  };
  return secretsFault(secrets) ? tooMany : secrets;
}
