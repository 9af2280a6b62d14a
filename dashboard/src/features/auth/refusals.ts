import type { OidcRefusal } from "../../../../server/domain/api-types/enums.ts";

/** Messages for a failed sign-in with an identity provider, by the `refused` query parameter. */
export const refusals: Record<OidcRefusal, string> = {
  cancelled: "The sign-in was cancelled or denied. Try again, or contact your administrator.",
  stale: "This sign-in has expired, or was started in another browser. Try again.",
  unreachable: "The identity provider could not be reached. Try again. The server's log has the reason.",
  issuer: "The response of the identity provider could not be verified. Try again. The server's log has the reason.",
  email: "The identity provider sent no valid email address for you. Correct it there, then sign in again.",
  unverified: "Your email address is not verified at the identity provider. Verify it, then sign in again.",
  domain: "Email addresses of your domain are not allowed to sign in.",
  role: "You have no role for this server. Contact your administrator.",
  unknown: "There is no account for you here. Ask an owner to invite you.",
  taken: "Another person already signs in with this email address. Ask an owner to remove that account.",
  off: "Signing in with an identity provider is not set up on this server.",
  server: "The server could not sign you in. Try again. The server's log has the reason.",
};
