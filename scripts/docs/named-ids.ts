import { consolePrefixes } from "../../server/dashboard-api/console-id.ts";
import { prefixes } from "../../server/domain/ids.ts";

/** Names of kinds that are not their ids' prefix, and a common prefix for projects elsewhere. */
const names = [...Object.entries(prefixes).flatMap(([kind, prefix]) => (kind === prefix ? [] : [kind])), "prj"];

// Prefixes of other things: keys, tokens, ids of OpenAI, names of tables.
const others = ["sk_test", "sk_live", "ct", "resp", "asst", "runnel", "runnel_cluster"];

const known = new Set<string>([...Object.values(prefixes), ...Object.values(consolePrefixes), ...others]);
const named = new RegExp(`\\b(?:${names.join("|")})_(?:…|\\.\\.\\.|none\\b|\\d+\\b|[0-9a-hjkmnp-tv-z]{26}\\b)`, "g");
const shortened = /\b([a-z]+(?:_[a-z]+)*)_(?:…|\.\.\.)/g;

/** Returns the ids in a text that no server would generate, such as an agent's id that begins with the kind's name. */
export function wrongIds(text: string): string[] {
  const unknown = [...text.matchAll(shortened)].filter(([, prefix]) => !known.has(prefix!));
  return [...new Set([...text.matchAll(named), ...unknown].map(([id]) => id))];
}
