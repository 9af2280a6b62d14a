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
  let shown = text;
  // The long ones first: one may be the beginning of another.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length))
    if (secret.length >= 8) shown = shown.replaceAll(secret, mask);
  for (const [form, replacement] of rules) shown = shown.replace(form, replacement);
  return shown;
}
