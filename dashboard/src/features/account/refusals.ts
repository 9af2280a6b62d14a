/** Why a sign-in at the issuer failed, and what to do, by the `refused` parameter of the address. */
export const refusals: Record<string, string> = {
  cancelled: "The sign-in was cancelled or denied. Try again, or contact your administrator.",
  stale: "This sign-in has expired, or was started in another browser. Try again.",
  issuer: "The response of the identity provider could not be verified. Try again. The server's log has the reason.",
  unverified: "Your email address is not verified at the identity provider. Verify it, then sign in again.",
  domain: "Email addresses of your domain are not allowed to sign in.",
  role: "You have no role for this server. Contact your administrator.",
  unknown: "There is no account for you here. Ask an owner to invite you.",
  taken: "Another person already signs in with this email address. Ask an owner to remove that account.",
};
