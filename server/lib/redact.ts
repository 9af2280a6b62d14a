const mask = "[hidden]";

// A kept prefix says what kind of secret it was, which is what whoever reads the log needs to know.
const rules: [form: RegExp, shown: string][] = [
  [/\b(sk_(?:live|test)_)\w{8,}/g, `$1${mask}`],
  [/\b(whsec_)[A-Za-z0-9+/=_-]{8,}/g, `$1${mask}`],
  [/\b(Bearer\s+)[^\s"',\\]+/gi, `$1${mask}`],
  [/\b(Basic\s+)[A-Za-z0-9+/=]{8,}/g, `$1${mask}`],
  [/((?:__Host-runnel|runnel_session)=)[^\s;"\\]+/g, `$1${mask}`],
  [/(\/setup#)[\w-]+/g, `$1${mask}`],
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

// Anything shorter is also part of ordinary words, and nobody's secret for long.
const shortest = 8;

/** Masks these very secrets in a text, and nothing that only looks like one. */
export function hide(text: string, secrets: readonly string[]): string {
  let shown = text;
  // The long ones first: one may be the beginning of another.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length))
    if (secret.length >= shortest) shown = shown.replaceAll(secret, mask);
  return shown;
}

/** Like `hide`, of a text that was cut off somewhere: its end may be the beginning of a secret. */
export function hideCut(text: string, secrets: readonly string[]): string {
  const shown = hide(text, secrets);
  const begun = Math.max(0, ...secrets.map((secret) => begunAtEnd(shown, secret)));
  return begun >= shortest / 2 ? shown.slice(0, -begun) + mask : shown;
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
