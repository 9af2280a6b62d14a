import { AhoCorasick } from "./aho-corasick.ts";
import { createYielder } from "./cooperative-yield.ts";
import { isNumber } from "./exact-numbers.ts";
import { hasParts } from "./json.ts";
import { type Mask, hiddenText as mask, maskFor, shortest } from "./mask.ts";

// The prefix is kept to show the kind of secret in the log.
const rules: [form: RegExp, shown: string][] = [
  [/\b(sk_(?:live|test)_)\w{8,}/g, `$1${mask}`],
  [/\b(ct_(?:live|test)_)[\w-]{8,}/g, `$1${mask}`],
  [/\b(whsec_)[A-Za-z0-9+/=_-]{8,}/g, `$1${mask}`],
  [/\b(Bearer\s+)[^\s"',\\]+/gi, `$1${mask}`],
  [/\b(Basic\s+)[A-Za-z0-9+/=]{8,}/g, `$1${mask}`],
  [/((?:__Host-runnel|runnel_session\w*)=)[^\s;"\\]+/g, `$1${mask}`],
  [/(runnel_visitor=)[^\s;"\\]+/g, `$1${mask}`],
  [/(\/(?:setup|chat\/\w+)#)[\w-]+/g, `$1${mask}`],
  // The URL of a callback is the permission to answer the call.
  [/(\/(?:callbacks|oauth\/+consent)\/+)[^\s"'\\/?#]+/gi, `$1${mask}`],
  [/\b(sk-)[\w-]{16,}/g, `$1${mask}`],
  [/\bAKIA[0-9A-Z]{16}\b/g, mask],
  [/\bAIza[\w-]{30,}/g, mask],
  [/(\/\/)[^/\s:@"]+:[^/\s@"]+(@)/g, `$1${mask}$2`],
];

/** Masks everything that looks like a secret, and the given secrets, in a text that leaves the process. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let shown = maskSecrets(text, secrets);
  for (const [form, replacement] of rules) shown = shown.replace(form, replacement);
  return shown;
}

/** Masks only the given secrets, also in escaped form. */
export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  masked(text, maskFor(secrets, { text }));

/** Like `maskSecrets`, but ignores case, because host names come back in lower case. */
export const hideInAnyCase = (text: string, secrets: readonly string[]): string =>
  masked(text, maskFor(secrets, { text, anyCase: true }));

/** Like `maskSecrets` for a truncated text, whose end may be the beginning of a secret. */
export const maskTruncated = (text: string, secrets: readonly string[]): string =>
  masked(text, maskFor(secrets, { text }), true);

/** Like `maskSecrets` or `maskTruncated` for a long text; yields in between. */
export async function maskSecretsAsync(text: string, secrets: readonly string[], cut = false): Promise<string> {
  const mask = maskFor(secrets, { text });
  if (!mask) return text;
  const rest = createYielder();
  let shown = "";
  for (let at = 0; at < text.length; at += pieceLength) {
    shown += mask.push(text.slice(at, at + pieceLength));
    await rest();
  }
  shown += mask.end(cut);
  return mask.hasHidden ? shown : text;
}

// A piece takes one or two milliseconds if it is all escapes.
const pieceLength = 8192;

function masked(text: string, mask: Mask | null, cut = false): string {
  if (!mask || text.length < shortest / 2) return text;
  let shown = "";
  for (let at = 0; at < text.length; at += pieceLength) shown += mask.push(text.slice(at, at + pieceLength));
  shown += mask.end(cut);
  return mask.hasHidden ? shown : text;
}

/** Replaces the given secrets by stars of the same length in bytes; yields in between. */
export async function hideInBytes(bytes: Uint8Array, secrets: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const longSecrets = secrets.filter(({ length }) => length >= shortest);
  // One character per byte.
  const needles = new AhoCorasick(longSecrets.map((secret) => Buffer.from(secret).toString("latin1")));
  const clean = new Uint8Array(bytes);
  const rest = createYielder();
  let [state, covered] = [0, 0];
  for (let index = 0; index < bytes.length; index++) {
    if (index % 65_536 === 0) await rest();
    state = needles.next(state, bytes[index]!);
    const length = needles.ends[state]!;
    if (length === 0) continue;
    clean.fill(star, Math.max(covered, index + 1 - length), index + 1);
    covered = index + 1;
  }
  return clean;
}

const star = 42;

/**
 * Like `hide` for a JSON value: masks names, strings, and numbers whose digits are a secret. Changes the value in place
 * and yields in between, because tool outputs may be large.
 */
export async function hideInJson(value: unknown, secrets: readonly string[]): Promise<unknown> {
  const whole = { value };
  const open: Json[] = [whole];
  // Skips numbers if no secret looks like one, because a list may have millions.
  const inNumbers = secrets.some((secret) => /^[-+.e\d]+$/.test(secret));
  const rest = createYielder();
  let visited = 0;
  for (let at = open.pop(); at; at = open.pop()) {
    for (const name of Array.isArray(at) ? at.keys() : Object.keys(at)) {
      if (++visited % 1024 === 0) await rest();
      const inner = at[name];
      if (hasParts(inner)) open.push(inner as Json);
      else if (typeof inner === "string" && inner.length > pieceLength)
        put(at, name, await maskSecretsAsync(inner, secrets));
      else if (typeof inner === "string" || (inNumbers && isNumber(inner))) {
        const text = typeof inner === "string" ? inner : JSON.stringify(inner);
        const shown = maskSecrets(text, secrets);
        if (shown !== text) put(at, name, typeof inner === "string" ? shown : mask);
      }
    }
    rename(at, secrets);
  }
  return whole.value;
}

type Json = { [name: string | number]: unknown };

/** Defines the property, which works for `__proto__` too. */
const put = (into: Json, name: string | number, value: unknown): void =>
  void Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true });

function rename(object: Json, secrets: readonly string[]): void {
  if (Array.isArray(object) || Object.keys(object).every((name) => maskSecrets(name, secrets) === name)) return;
  const entries = Object.entries(object);
  for (const [name] of entries) delete object[name];
  for (const [name, value] of entries) put(object, maskSecrets(name, secrets), value);
}
