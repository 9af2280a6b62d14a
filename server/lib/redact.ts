import { isNumber } from "./exact-numbers.ts";
import { hasParts } from "./json.ts";
import { type Mask, hidden as mask, maskFor, shortest } from "./mask.ts";
import { Needles } from "./needles.ts";
import { inSlices } from "./slices.ts";

// A kept prefix says what kind of secret it was, which is what whoever reads the log needs to know.
const rules: [form: RegExp, shown: string][] = [
  [/\b(sk_(?:live|test)_)\w{8,}/g, `$1${mask}`],
  [/\b(ct_(?:live|test)_)[\w-]{8,}/g, `$1${mask}`],
  [/\b(whsec_)[A-Za-z0-9+/=_-]{8,}/g, `$1${mask}`],
  [/\b(Bearer\s+)[^\s"',\\]+/gi, `$1${mask}`],
  [/\b(Basic\s+)[A-Za-z0-9+/=]{8,}/g, `$1${mask}`],
  [/((?:__Host-runnel|runnel_session)=)[^\s;"\\]+/g, `$1${mask}`],
  [/(runnel_visitor=)[^\s;"\\]+/g, `$1${mask}`],
  [/(\/(?:setup|chat\/\w+)#)[\w-]+/g, `$1${mask}`],
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

/** Masks these very secrets in a text, also where they stand escaped, and nothing that only looks like one. */
export const hide = (text: string, secrets: readonly string[]): string => masked(text, maskFor(secrets, { text }));

/** Like `hide`, in whichever case the secrets are written: names of hosts come back in small letters. */
export const hideInAnyCase = (text: string, secrets: readonly string[]): string =>
  masked(text, maskFor(secrets, { text, anyCase: true }));

/** Like `hide`, of a text that was cut off somewhere: its end may be the beginning of a secret. */
export const hideCut = (text: string, secrets: readonly string[]): string =>
  masked(text, maskFor(secrets, { text }), true);

/** Like `hide` or `hideCut`, of a long text: others on this thread go first in between. */
export async function hideInSlices(text: string, secrets: readonly string[], cut = false): Promise<string> {
  const mask = maskFor(secrets, { text });
  if (!mask) return text;
  const rest = inSlices();
  let shown = "";
  for (let at = 0; at < text.length; at += pieceLength) {
    shown += mask.push(text.slice(at, at + pieceLength));
    await rest();
  }
  shown += mask.end(cut);
  return mask.hasHidden ? shown : text;
}

// Takes a millisecond or two where it is nothing but escapes.
const pieceLength = 8192;

function masked(text: string, mask: Mask | null, cut = false): string {
  if (!mask || text.length < shortest / 2) return text;
  let shown = "";
  for (let at = 0; at < text.length; at += pieceLength) shown += mask.push(text.slice(at, at + pieceLength));
  shown += mask.end(cut);
  return mask.hasHidden ? shown : text;
}

/** The same bytes with stars in the place of these very secrets, in slices: a file keeps its length. */
export async function hideInBytes(bytes: Uint8Array, secrets: readonly string[]): Promise<Uint8Array<ArrayBuffer>> {
  const sought = secrets.filter(({ length }) => length >= shortest);
  // Each byte as a character.
  const needles = new Needles(sought.map((secret) => Buffer.from(secret).toString("latin1")));
  const clean = new Uint8Array(bytes);
  const rest = inSlices();
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
 * Like `hide`, everywhere in a JSON value: names, texts, and numbers that are a secret's digits. In slices, and in place:
 * what tools answer may be large, and nobody needs it as it was.
 */
export async function hideInJson(value: unknown, secrets: readonly string[]): Promise<unknown> {
  const whole = { value };
  const open: Json[] = [whole];
  // A list may have millions of numbers, and hardly any secret could be one.
  const inNumbers = secrets.some((secret) => /^[-+.e\d]+$/.test(secret));
  const rest = inSlices();
  let looked = 0;
  for (let at = open.pop(); at; at = open.pop()) {
    for (const name of Array.isArray(at) ? at.keys() : Object.keys(at)) {
      if (++looked % 1024 === 0) await rest();
      const inner = at[name];
      if (hasParts(inner)) open.push(inner as Json);
      else if (typeof inner === "string" && inner.length > pieceLength)
        put(at, name, await hideInSlices(inner, secrets));
      else if (typeof inner === "string" || (inNumbers && isNumber(inner))) {
        const text = typeof inner === "string" ? inner : JSON.stringify(inner);
        const shown = hide(text, secrets);
        if (shown !== text) put(at, name, typeof inner === "string" ? shown : mask);
      }
    }
    rename(at, secrets);
  }
  return whole.value;
}

type Json = { [name: string | number]: unknown };

/** Also where the name is `__proto__`. */
const put = (into: Json, name: string | number, value: unknown): void =>
  void Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true });

function rename(object: Json, secrets: readonly string[]): void {
  if (Array.isArray(object) || Object.keys(object).every((name) => hide(name, secrets) === name)) return;
  const entries = Object.entries(object);
  for (const [name] of entries) delete object[name];
  for (const [name, value] of entries) put(object, hide(name, secrets), value);
}
