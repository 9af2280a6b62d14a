import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { limits } from "../core/limits.ts";
import type { Scope } from "../core/scope.ts";
import type { Seal } from "../lib/seal.ts";
import type { ToolSecrets } from "../worker/messages.ts";
import { secretsFault, tooManySecrets } from "../worker/tools/secret-texts.ts";
import { lengthWithValues, referencesIn, withValues } from "./secret-reference.ts";

/** What a tool keeps encrypted: its headers as they were written, and what it signs with (MCP tools: nothing). */
interface SealedSecrets {
  headers: Record<string, string>;
  signing_secret: string;
}

/** The encrypted text of what a pinned tool sends; null where it sends nothing of its own. */
export const sealedOf = ({ http, mcp }: ToolSnapshot): string | null => http?.sealed ?? mcp?.sealed ?? null;

// The row that the text belongs to: moved into another tool or project it does not open.
const context = ({ project_id, environment }: Scope, toolId: string) => `tool/${project_id}/${environment}/${toolId}`;

export const sealToolSecrets = (seal: Seal, scope: Scope, toolId: string, secrets: SealedSecrets): string =>
  seal.seal(JSON.stringify(secrets), context(scope, toolId));

/** The secrets of a tool or of its snapshot (`sealedOf`); throws when the text is not this tool's. */
export const openToolSecrets = (seal: Seal, scope: Scope, toolId: string, sealed: string): SealedSecrets =>
  JSON.parse(seal.open(sealed, context(scope, toolId)));

/** What a call sends: the headers with what their references stand for at this moment; of too much, only that it is. */
export function resolveToolSecrets(
  { headers, signing_secret }: SealedSecrets,
  read: (name: string) => string | null,
): ToolSecrets {
  const names = [...new Set(Object.values(headers).flatMap(referencesIn))];
  const found = names.map((name) => [name, read(name)] as const);
  const values = Object.fromEntries(found.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
  const tooMany: ToolSecrets = { headers: {}, signing_secret, fault: tooManySecrets };
  // Before they are written out: a long value may be referred to in every header, many times.
  const length = Object.values(headers).reduce((sum, text) => sum + lengthWithValues(text, values), 0);
  if (length > limits.tool_secrets_length) return tooMany;
  const secrets: ToolSecrets = {
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, withValues(text, values)])),
    signing_secret,
    ...(names.length > 0 && {
      named: { values: Object.values(values), missing: names.filter((name) => !Object.hasOwn(values, name)) },
    }),
  };
  return secretsFault(secrets) ? tooMany : secrets;
}
