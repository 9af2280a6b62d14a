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
  /** The OAuth client whose token is sent. */
  oauth_client_id?: string;
}

/** Facts of the project. */
interface Known {
  hasSecret(name: string): boolean;
  hasOAuthClient(id: string): boolean;
}

/** Returns the content that the secret of a scheme needs, in words; null if the scheme takes no secret. */
export function secretHolds({ type, parameter }: Pick<PlannedScheme, "type" | "parameter">): string | null {
  if (type === "bearer") return "The token.";
  if (type === "basic") return "The Base64 of user:password.";
  // Documents of Swagger 2.0 know no bearer tokens, and call them so.
  if (type === "api_key" && parameter?.toLowerCase() === "authorization")
    return "The whole header, such as Bearer and the token.";
  if (type === "api_key") return "The key.";
  if (type === "oauth2" || type === "openid_connect") return "An access token.";
  return null;
}

/** True for schemes whose access tokens an OAuth client can get. */
export const takesOAuthClient = ({ type }: Pick<PlannedScheme, "type">): boolean =>
  type === "bearer" || type === "oauth2" || type === "openid_connect";

/** Throws for schemes that the document does not have, and for secrets and clients that the project does not have. */
export function checkAuth(auth: Auth, schemes: readonly PlannedScheme[], known: Known): void {
  throwIfInvalid(
    Object.entries(auth).flatMap(([name, { secret, oauth_client_id }]): Fault[] => {
      const scheme = schemes.find((each) => each.name === name);
      if (!scheme) return [fault(`auth.${name}`, "The document has no security scheme of this name.")];
      if (secretHolds(scheme) === null) return [fault(`auth.${name}`, "Schemes of this type are not supported.")];
      if ((secret === undefined) === (oauth_client_id === undefined))
        return [fault(`auth.${name}`, "Give the secret, or the OAuth client.", "required")];
      if (secret !== undefined)
        return known.hasSecret(secret) ? [] : [fault(`auth.${name}.secret`, `There is no secret ${secret}.`)];
      if (!takesOAuthClient(scheme))
        return [fault(`auth.${name}.oauth_client_id`, "This scheme takes no access tokens: give a secret.")];
      return known.hasOAuthClient(oauth_client_id ?? "")
        ? []
        : [fault(`auth.${name}.oauth_client_id`, `There is no OAuth client ${oauth_client_id}.`)];
    }),
  );
}

/**
 * Returns the first alternative for whose schemes everything is given; null if there is none. An empty one needs
 * nothing. Two schemes that set the same header or parameter cannot be sent together.
 */
export function alternativeOf(
  security: readonly string[][],
  schemes: readonly PlannedScheme[],
  auth: Auth,
): string[] | null {
  if (security.length === 0) return [];
  const placeIn = (name: string) => placeOf(schemes.find((each) => each.name === name));
  const given = security.filter(
    (names) =>
      names.every((name) => ownValue(auth, name) !== undefined) && new Set(names.map(placeIn)).size === names.length,
  );
  return given.find((names) => names.length > 0) ?? given[0] ?? null;
}

/** Where a scheme's value is sent. */
function placeOf(scheme: PlannedScheme | undefined): string {
  if (scheme?.type !== "api_key") return "header authorization";
  const { in: place, parameter } = scheme;
  return `${place} ${place === "header" ? parameter?.toLowerCase() : parameter}`;
}

/** Returns what a call sends for these schemes. */
export function valuesOf(names: readonly string[], schemes: readonly PlannedScheme[], auth: Auth): AuthValues {
  const values: AuthValues = { headers: {}, query: {} };
  for (const name of names) {
    const scheme = schemes.find((each) => each.name === name);
    const { secret, oauth_client_id } = ownValue(auth, name) ?? {};
    if (oauth_client_id !== undefined) values.oauth_client_id = oauth_client_id;
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
