import { limits } from "../../../domain/limits.ts";
import { shortest } from "../../../lib/mask.ts";
import type { ToolSecrets } from "../messages.ts";

/** Returns the texts of a tool's secrets that no output may contain: header values and the signing secret. */
export function secretTexts({ headers, query = {}, signing_secret, named }: ToolSecrets): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (isPlain.test(name) ? [] : credentialsIn(value)));
  return [...values, ...Object.values(query), ...(named?.values ?? []), signing_secret];
}

/** Returns a message if the tool has more secrets than can be searched for in its outputs, or null. */
export function secretsFault(secrets: ToolSecrets): string | null {
  const texts = soughtIn({ ...secrets, signing_secret: "" }); // Ours, so it does not count.
  if (texts.length <= limits.tool_secrets && lengthOf(texts) <= limits.tool_secrets_length) return null;
  return tooManySecrets;
}

/** A sentence that can follow another. */
export const tooManySecrets = `A tool's headers may hold ${limits.tool_secrets} secrets with ${limits.tool_secrets_length} characters: values, their parts between spaces, commas, semicolons and quotes, and named secrets.`;

/** Texts that no output of a run may contain. */
export function createHidden() {
  const hidden = new Set<string>();
  let length = 0;
  let texts: readonly string[] = [];
  return {
    /**
     * Adds a tool's secrets. Returns a message, and adds none, if they exceed the run's limit; the tool may not use
     * them then.
     */
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
    /** Same array until secrets are added, so that the search over it is compiled once. */
    texts: () => texts,
  };
}

const soughtIn = (secrets: ToolSecrets): string[] =>
  [...new Set(secretTexts(secrets))].filter(({ length }) => length >= shortest);

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

// Headers that do not authenticate; outputs are full of values such as application/json.
const isPlain = /^(accept|accept-language|content-type|user-agent)$/i;

/** Returns a header's value, its parts and a decoded `Basic` login: a receiver may echo any of them. */
function credentialsIn(value: string): string[] {
  const whole = value.trim();
  const [, basic] = /^basic\s+(\S+)$/i.exec(whole) ?? [];
  return [whole, ...partsOf(whole), ...(basic === undefined ? [] : loginIn(basic))];
}

// Parts of `sid=…; a=…` or `Token token="…"`. A name of letters alone is not secret: outputs are full of `session_id`.
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
