import { shortest } from "../../lib/redact.ts";
import type { ToolSecrets } from "../messages.ts";

/** The texts of a tool's secrets that no output may hold: what its headers carry, and what it signs with. */
export function secretTexts({ headers, signing_secret, named }: ToolSecrets): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (isPlain.test(name) ? [] : credentialsIn(value)));
  return [...values, ...(named?.values ?? []), signing_secret];
}

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
