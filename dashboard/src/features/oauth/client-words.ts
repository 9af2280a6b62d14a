import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";

type Kind = Pick<OAuthClient, "grant" | "per_user">;

/** For whom a client gets tokens. */
export const actors = {
  users: {
    kind: { grant: "authorization_code", per_user: true },
    label: "Each user",
    hint: "Calls use the account of the run's user_id. Each user consents once.",
  },
  project: {
    kind: { grant: "authorization_code", per_user: false },
    label: "The project, after a consent",
    hint: "One person connects an account, and all runs use it.",
  },
  itself: {
    kind: { grant: "client_credentials", per_user: false },
    label: "The project, without a consent",
    hint: "The id and the secret of the client are enough.",
  },
} as const satisfies Record<string, { kind: Kind; label: string; hint: string }>;

export type Actor = keyof typeof actors;

/** Returns for whom a client gets tokens. */
export function actorOf({ grant, per_user }: Kind): Actor {
  if (grant === "client_credentials") return "itself";
  return per_user ? "users" : "project";
}

/** Returns the host of the authorization server. */
export function serverOf({ issuer, token_endpoint }: Pick<OAuthClient, "issuer" | "token_endpoint">): string {
  const address = issuer ?? token_endpoint ?? "";
  return URL.parse(address)?.host ?? address;
}

/** Explains why a consent failed, by the code in the address to which the person came back. */
export const failureWords = (code: string | undefined): string =>
  (code && failures[code]) ?? "The authorization server gave no token. Check the settings of the client.";

const failures: Record<string, string> = {
  access_denied: "The consent was refused at the authorization server.",
  grant_refused: "The authorization server refused the code of the consent. Try again.",
  client_refused: "The authorization server refuses the client: check its id, its secret and its scopes.",
  issuer_unreachable: "The authorization server did not answer. Try again later.",
  issuer_invalid: "The answer of the authorization server is not valid.",
  issuer_unsuitable: "The authorization server lacks something that is needed, such as PKCE with S256.",
  url_not_allowed: "This server may not connect to the authorization server.",
};
