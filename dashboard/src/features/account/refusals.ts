/** Why somebody comes back from the issuer without a session, and what to do, by what the address says. */
export const refusals: Record<string, string> = {
  cancelled: "You said no there, or may not use this server. Try again, or ask whoever runs it.",
  stale: "This sign-in was begun in another browser, or more than ten minutes ago. Try again.",
  issuer: "The answer could not be verified. Try again; the server's log has the reason.",
  unverified: "Your email address is not verified there. Verify it, and sign in again.",
  domain: "Addresses of your domain may not sign in here.",
  role: "You have no role for this server there. Ask whoever gives roles.",
  unknown: "There is no account for you here. Ask an owner to invite you.",
  taken: "Somebody else signs in with your address already. Ask an owner to remove that account.",
};
