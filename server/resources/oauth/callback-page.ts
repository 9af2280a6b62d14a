import { personPage, personPageHeaders } from "../../http/person-page.ts";
import type { CallbackOutcome } from "../../runtime/oauth/callback-outcome.ts";

/** Returns what a user sees who comes back from an authorization server, or sends them on. */
export function callbackResponse(outcome: CallbackOutcome): Response {
  const { returnUrl } = outcome;
  if (returnUrl !== null) {
    const location = new URL(returnUrl);
    location.searchParams.set("oauth", outcome.granted ? "granted" : "failed");
    if (!outcome.granted) location.searchParams.set("oauth_error", outcome.code);
    const { "content-type": _, ...others } = personPageHeaders;
    return new Response(null, { status: 303, headers: { ...others, location: location.href } });
  }
  const [title, text] = wordsOf(outcome);
  return personPage({ title, text }, statusOf(outcome));
}

function wordsOf(outcome: CallbackOutcome): [title: string, text: string] {
  const name = outcome.clientName ?? "The service";
  if (outcome.granted) return [`${name} is connected`, "You can close this window: the work goes on."];
  if (outcome.code === "state_invalid")
    return ["This link does not work any more", `${outcome.message} Ask for a new one.`];
  if (outcome.code === "browser_unknown")
    return ["Open the link again in this browser", `${outcome.message} Nothing was connected.`];
  if (outcome.code === "shutting_down")
    return ["One moment", `${outcome.message} Load this page again in a few seconds.`];
  if (outcome.code === "access_denied")
    return [`${name} is not connected`, "You did not allow it. You can close this window."];
  return [`${name} is not connected`, `${outcome.message} You can close this window and try again.`];
}

function statusOf(outcome: CallbackOutcome): number {
  if (outcome.granted) return 200;
  if (outcome.code === "shutting_down") return 503;
  return outcome.code === "issuer_unreachable" ? 502 : 400;
}
