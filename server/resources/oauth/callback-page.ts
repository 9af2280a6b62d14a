import type { CallbackOutcome } from "./access-tokens.ts";

/** Headers of a page without scripts, styles and links, which no other page shows and no cache keeps. */
const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/** Returns what a user sees who comes back from an authorization server, or sends them on. */
export function callbackResponse(outcome: CallbackOutcome): Response {
  const { returnUrl } = outcome;
  if (returnUrl !== null) {
    const location = new URL(returnUrl);
    location.searchParams.set("oauth", outcome.granted ? "granted" : "failed");
    if (!outcome.granted) location.searchParams.set("oauth_error", outcome.code);
    const { "content-type": _, ...others } = headers;
    return new Response(null, { status: 303, headers: { ...others, location: location.href } });
  }
  const [title, text] = wordsOf(outcome);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
</main>
</body>
</html>
`;
  return new Response(page, { status: statusOf(outcome), headers });
}

function wordsOf(outcome: CallbackOutcome): [title: string, text: string] {
  const name = outcome.clientName ?? "The service";
  if (outcome.granted) return [`${name} is connected`, "You can close this window: the work goes on."];
  if (outcome.code === "state_invalid")
    return ["This link does not work any more", `${outcome.message} Ask for a new one.`];
  if (outcome.code === "access_denied")
    return [`${name} is not connected`, "You did not allow it. You can close this window."];
  return [`${name} is not connected`, `${outcome.message} You can close this window and try again.`];
}

function statusOf(outcome: CallbackOutcome): number {
  if (outcome.granted) return 200;
  return outcome.code === "issuer_unreachable" ? 502 : 400;
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
