import { candidatesOf, vendorOf } from "./model-aliases.ts";

/** A model's relatives: those with the same words in their name, whatever their version. */
interface Family {
  vendor: string;
  /** First word: `gpt`, `claude`. */
  root: string;
  /** All words: `gpt-mini`, `claude-sonnet`. */
  words: string;
  /** Major version; null without one. */
  generation: number | null;
}

// Makers that price by the name's words. Names of open models tell the size instead, and any server sets its own price.
const roots = new Set(
  [
    "gpt",

    "o",
    "claude",
    "gemini",
    "grok",
    "mistral",
    "ministral",
    "magistral",
    "codestral",
    "devstral",
  ].concat(["deepseek", "nova"]),
);
const providers = new Set([
  "openai",
  "anthropic",
  "google",
  "vertex",
  "bedrock",
  "azure",
  "mistral",
  "deepseek",
  "xai",
  "openrouter",
]);
/** Models of other kinds have other prices. */
const otherKinds =
  /audio|realtime|transcribe|tts|image|embed|moderation|ocr|voxtral|live|omni|native|video|sonic|search|research|computer|guard|distill|oss|saba|nemo|canvas|reel|(^|\/)ft:|:/;
const versions = /^(v?\d+(p\d+)?[a-z]?|\d+(x\d+)?b|a\d+b|r\d+)$/;
const fillers = new Set(["preview", "latest", "exp", "experimental", "beta", "chat", "default", "it", "instruct"]);

/** True for a model that does not answer with text only, or whose price another maker sets. */
export const isOtherKind = (name: string): boolean => otherKinds.test(name);

/** Returns the newest generation of each root. */
export function newestGenerations(families: readonly Family[]): Map<string, number> {
  const newest = new Map<string, number>();
  for (const { root, generation } of families) newest.set(root, Math.max(newest.get(root) ?? 0, generation ?? 0));
  return newest;
}

/** Returns the family of a model by its provider and name; null if its maker does not price by families. */
export function familyOf(provider: string, model: string): Family | null {
  const last = candidatesOf(provider, model).at(-1);
  if (!providers.has(provider) || !last || otherKinds.test(last.name)) return null;
  const { vendor, name } = vendorOf(provider, last.name);
  const tokens = name
    .replace(/^(o)(\d)/, "$1-$2")
    .replace(/^(gpt|claude|gemini|grok)(\d)/, "$1-$2")
    .split(/[-_.@/]+/)
    .filter(Boolean);
  const words = tokens.filter((token) => !versions.test(token) && !fillers.has(token));
  const [root] = words;
  if (root === undefined || tokens[0] !== root || !roots.has(root)) return null;
  const version = tokens.map((token) => /^v?(\d{1,2})(?!\d)/.exec(token)?.[1]).find((found) => found !== undefined);
  return { vendor, root, words: words.join("-"), generation: version === undefined ? null : Number(version) };
}

/**
 * Returns the relatives among these models that set the price of an unknown one: of the same words, else of the same
 * first word, and of the maker's last two generations if there are any.
 */
export function relativesOf<Member>(
  family: Family,
  members: readonly (readonly [of: Family, member: Member])[],
): Member[] {
  // Pro models of OpenAI cost many times as much, and their names always say so.
  const isLikely = ({ words }: Family) =>
    !/^(gpt|o)$/.test(family.root) || !/-pro$/.test(words) || /-pro$/.test(family.words);
  const related = members.filter(([of]) => of.vendor === family.vendor && of.root === family.root && isLikely(of));
  const newest = newestGenerations(related.map(([of]) => of)).get(family.root) ?? 0;
  const isCurrent = ({ generation }: Family, before: number) => generation !== null && generation >= newest - before;
  const close = related.filter(([of]) => of.words === family.words);
  // A name without further words says little once its newest relatives have some.
  const isPlain = family.words === family.root && !close.some(([of]) => isCurrent(of, 0));
  const chosen = close.length > 0 && !isPlain ? close : related;
  const current = chosen.filter(([of]) => isCurrent(of, 1));
  return (current.length > 0 ? current : chosen).map(([, member]) => member);
}
