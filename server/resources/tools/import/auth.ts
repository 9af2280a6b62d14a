import type { Fault } from "../../../domain/errors.ts";
import type { PlannedScheme } from "../../../domain/openapi-import.ts";
import { fault, throwIfInvalid } from "../../../http/errors.ts";
import { ownValue } from "../../../lib/collections.ts";
import type { ImportTools } from "./schema.ts";

export type Auth = NonNullable<ImportTools["auth"]>;

/** Fixed values of a tool that authenticate its calls. */
interface AuthValues {
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** Returns the content that the secret of a scheme needs, in words; null if the scheme takes no secret. */
export function secretHolds({ type }: Pick<PlannedScheme, "type">): string | null {
  if (type === "bearer") return "The token.";
  if (type === "basic") return "The Base64 of user:password.";
  if (type === "api_key") return "The key.";
  if (type === "oauth2" || type === "openid_connect") return "An access token.";
  return null;
}

/** Throws for schemes that the document does not have, and secrets that the project does not have. */
export function checkAuth(auth: Auth, schemes: readonly PlannedScheme[], hasSecret: (name: string) => boolean): void {
  throwIfInvalid(
    Object.entries(auth).flatMap(([name, { secret }]): Fault[] => {
      const scheme = schemes.find((each) => each.name === name);
      if (!scheme) return [fault(`auth.${name}`, "The document has no security scheme of this name.")];
      if (secretHolds(scheme) === null) return [fault(`auth.${name}`, "Schemes of this type are not supported.")];
      return hasSecret(secret) ? [] : [fault(`auth.${name}.secret`, `There is no secret ${secret}.`)];
    }),
  );
}

/** Returns the first alternative whose secrets are all given; null if there is none. An empty one needs no secret. */
export function alternativeOf(security: readonly string[][], auth: Auth): string[] | null {
  if (security.length === 0) return [];
  const given = security.filter((names) => names.every((name) => ownValue(auth, name) !== undefined));
  return given.find((names) => names.length > 0) ?? given[0] ?? null;
}

/** Returns what a call sends for these schemes. */
export function valuesOf(names: readonly string[], schemes: readonly PlannedScheme[], auth: Auth): AuthValues {
  const values: AuthValues = { headers: {}, query: {} };
  for (const name of names) {
    const scheme = schemes.find((each) => each.name === name);
    const secret = ownValue(auth, name)?.secret;
    if (!scheme || secret === undefined) continue;
    const reference = `{{secret.${secret}}}`;
    const { type, in: place, parameter } = scheme;
    if (type !== "api_key") values.headers.Authorization = `${type === "basic" ? "Basic" : "Bearer"} ${reference}`;
    else if (parameter === null) continue;
    else if (place === "query") values.query[parameter] = reference;
    else if (place === "header") values.headers[parameter] = reference;
    else {
      const cookies = values.headers.Cookie;
      values.headers.Cookie = `${cookies === undefined ? "" : `${cookies}; `}${parameter}=${reference}`;
    }
  }
  return values;
}

/** Returns a name for the secret of a scheme, such as `PET_STORE_API_KEY`. */
export function suggestedSecret(title: string, scheme: string): string {
  const plain = `${title}_${scheme}`.replaceAll(/[^A-Za-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return (/^[A-Za-z]/.test(plain) ? plain : `API_${plain}`).toUpperCase().slice(0, 64);
}
