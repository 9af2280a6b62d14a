import { limits } from "../../core/limits.ts";
import { shortest } from "../../lib/mask.ts";
import type { ToolSecrets } from "../messages.ts";

/** The texts of a tool's secrets that no output may hold: what its headers carry, and what it signs with. */
export function secretTexts({ headers, signing_secret, named }: ToolSecrets): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (isPlain.test(name) ? [] : credentialsIn(value)));
  return [...values, ...(named?.values ?? []), signing_secret];
}

/** What is wrong with a tool's secrets, as a sentence: whatever it answers is searched for all of them. */
export function secretsFault(secrets: ToolSecrets): string | null {
  const texts = soughtIn({ ...secrets, signing_secret: "" }); // That one is ours.
  if (texts.length <= limits.tool_secrets && lengthOf(texts) <= limits.tool_secrets_length) return null;
  return tooManySecrets;
}

/** As a sentence that may follow another. */
export const tooManySecrets = `A tool's headers may hold ${limits.tool_secrets} secrets with ${limits.tool_secrets_length} characters: values, their parts between spaces, commas, semicolons and quotes, and named secrets.`;

/** What no output of a run may hold. */
export function createHidden() {
  const hidden = new Set<string>();
  let length = 0;
  let texts: readonly string[] = [];
  return {
    /** From now on these are hidden, too, unless they are more than can be looked for; then it says so, and they may not be used. */
    add(secrets: ToolSecrets): string | null {
      const added = soughtIn(secrets).filter((text) => !hidden.has(text));
      if (added.length === 0) return null;
      if (length + lengthOf(added) > limits.run_secrets_length)
        return `All headers of a run's tools together may hold secrets with ${limits.run_secrets_length} characters.`;
      for (const text of added) hidden.add(text);
      length += lengthOf(added);
      texts = [...hidden];
      return null;
    },
    /** The same list as long as nothing is added: what looks for them is made ready once. */
    texts: () => texts,
  };
}

const soughtIn = (secrets: ToolSecrets): string[] =>
  [...new Set(secretTexts(secrets))].filter(({ length }) => length >= shortest);

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

// Say what a request is like and not who sends it; outputs are full of words such as application/json.
const isPlain = /^(accept|accept-language|content-type|user-agent)$/i;

/** A header's value, its parts, and what a `Basic` credential says: a receiver may give back any of them alone. */
function credentialsIn(value: string): string[] {
  const whole = value.trim();
  const [, basic] = /^basic\s+(\S+)$/i.exec(whole) ?? [];
  return [whole, ...partsOf(whole), ...(basic === undefined ? [] : loginIn(basic))];
}

// `sid=…; a=…`, `Token token="…"`. A name of letters alone is none of the secret: outputs are full of `session_id`.
const partsOf = (value: string): string[] =>
  value
    .replace(/(?<![^;,\s])[A-Za-z_-]+=(?=[^=])/g, " ")
    .split(/[;,=\s"]+/)
    .filter((part) => part.length >= shortest);

function loginIn(basic: string): string[] {
  const login = Buffer.from(basic, "base64").toString("utf8");
  const colon = login.indexOf(":");
  return colon === -1 ? [login] : [login, login.slice(0, colon), login.slice(colon + 1)];
}
