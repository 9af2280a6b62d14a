import { consolePrefixes } from "../../server/console/console-id.ts";
import { prefixes } from "../../server/core/ids.ts";

/** Ids that begin with the name of their kind, though the kind has another prefix; and what others call a project. */
const names = [...Object.entries(prefixes).flatMap(([kind, prefix]) => (kind === prefix ? [] : [kind])), "prj"];

// What is no id of a kind but is written like one: keys, tokens, ids of OpenAI, names of tables.
const others = ["sk_test", "sk_live", "ct", "resp", "asst", "runnel", "runnel_cluster"];

const known = new Set<string>([...Object.values(prefixes), ...Object.values(consolePrefixes), ...others]);
const named = new RegExp(`\\b(?:${names.join("|")})_(?:…|\\.\\.\\.|none\\b|\\d+\\b|[0-9a-hjkmnp-tv-z]{26}\\b)`, "g");
const shortened = /\b([a-z]+(?:_[a-z]+)*)_(?:…|\.\.\.)/g;

/** Ids in a text that no server would give, such as one of an agent that begins with the kind's name. */
export function wrongIds(text: string): string[] {
  const unknown = [...text.matchAll(shortened)].filter(([, prefix]) => !known.has(prefix!));
  return [...new Set([...text.matchAll(named), ...unknown].map(([id]) => id))];
}
