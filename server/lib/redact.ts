import { type Spelling, spellingsOf } from "./spellings.ts";

const mask = "[hidden]";

// A kept prefix says what kind of secret it was, which is what whoever reads the log needs to know.
const rules: [form: RegExp, shown: string][] = [
  [/\b(sk_(?:live|test)_)\w{8,}/g, `$1${mask}`],
  [/\b(whsec_)[A-Za-z0-9+/=_-]{8,}/g, `$1${mask}`],
  [/\b(Bearer\s+)[^\s"',\\]+/gi, `$1${mask}`],
  [/\b(Basic\s+)[A-Za-z0-9+/=]{8,}/g, `$1${mask}`],
  [/((?:__Host-runnel|runnel_session)=)[^\s;"\\]+/g, `$1${mask}`],
  [/(\/setup#)[\w-]+/g, `$1${mask}`],
  // Whoever has the address of a callback may answer the call.
  [/(\/callbacks\/+)[^\s"'\\/?#]+/gi, `$1${mask}`],
  [/\b(sk-)[\w-]{16,}/g, `$1${mask}`],
  [/\bAKIA[0-9A-Z]{16}\b/g, mask],
  [/\bAIza[\w-]{30,}/g, mask],
  [/(\/\/)[^/\s:@"]+:[^/\s@"]+(@)/g, `$1${mask}$2`],
];

/** Masks what looks like a secret, and these very secrets, in a text that leaves the process. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let shown = hide(text, secrets);
  for (const [form, replacement] of rules) shown = shown.replace(form, replacement);
  return shown;
}

/** The length of a secret that is looked for: anything shorter is also part of ordinary words. */
export const shortest = 8;

/** Masks these very secrets in a text, also where they stand escaped, and nothing that only looks like one. */
export const hide = (text: string, secrets: readonly string[]): string => masked(text, secrets, (same) => same);

/** Like `hide`, in whichever case the secrets are written: names of hosts come back in small letters. */
export const hideInAnyCase = (text: string, secrets: readonly string[]): string => masked(text, secrets, lowered);

// Only what keeps its length, so that places in the one text are places in the other.
const lowered = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

function masked(text: string, secrets: readonly string[], fold: (text: string) => string): string {
  const sought = secrets.filter(({ length }) => length >= shortest).map(fold);
  if (sought.length === 0) return text;
  const places: Place[] = [];
  for (const spelling of spellingsOf(text)) {
    const inside = fold(spelling.text);
    for (const secret of sought)
      for (let from = inside.indexOf(secret); from !== -1; from = inside.indexOf(secret, from + secret.length))
        places.push([spelling.at(from), spelling.at(from + secret.length)]);
  }
  return withMasks(text, places);
}

type Place = [from: number, to: number];

function withMasks(text: string, places: Place[]): string {
  let [shown, end] = ["", 0];
  // What overlaps is one place: one secret may be the beginning of another, or begin in it.
  for (const [from, to] of places.sort(([a], [b]) => a - b)) {
    if (from >= end) shown += text.slice(end, from) + mask;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

/** Like `hide`, of a text that was cut off somewhere: its end may be the beginning of a secret. */
export function hideCut(text: string, secrets: readonly string[]): string {
  const shown = hide(text, secrets);
  // No further back than a secret reaches that has each letter escaped: what tools answer may be long, and all of signs.
  const near = Math.max(0, shown.length - longestEscape * Math.max(0, ...secrets.map(({ length }) => length)));
  const ends = endsOf(shown.slice(near));
  const begun = ends.flatMap((end) => spellingsOf(end).flatMap((spelling) => begunIn(spelling, secrets)));
  return begun.length > 0 ? shown.slice(0, near + Math.min(...begun)) + mask : shown;
}

const longestEscape = 12;

/** The cut may go through an escape: a text, and all of it that comes before what may be a piece of one. */
function endsOf(text: string): string[] {
  const from = Math.max(0, text.length - longestEscape);
  return [text, ...[...text.slice(from).matchAll(/[\\%&]/g)].map(({ index }) => text.slice(0, from + index))];
}

/** Where the longest beginning of a secret begins that ends a text. */
function begunIn({ text, at }: Spelling, secrets: readonly string[]): number[] {
  const begun = Math.max(0, ...secrets.map((secret) => begunAtEnd(text, secret)));
  return begun >= shortest / 2 ? [at(text.length - begun)] : [];
}

function begunAtEnd(text: string, secret: string): number {
  if (secret.length < shortest) return 0;
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length--)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

/** Like `hide`, everywhere in a JSON value: names, texts, and numbers that are a secret's digits. */
export function hideInJson(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return hide(value, secrets);
  if (typeof value === "number") return hide(String(value), secrets) === String(value) ? value : mask;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => hideInJson(item, secrets));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [hide(name, secrets), hideInJson(item, secrets)]),
  );
}
