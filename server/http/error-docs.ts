import { Elysia } from "elysia";
import { catalogue, runErrors } from "../core/errors.ts";

/** `GET /docs/errors`: where every error's `doc_url` leads. One page without scripts, made from the catalogue. */
export const errorDocsRoutes = () =>
  new Elysia()
    .get(
      "/docs/errors",
      () => new Response(page, { headers: { ...headers, "content-type": "text/html; charset=utf-8" } }),
    )
    .get("/docs/errors.css", () => new Response(style, { headers: { ...headers, "content-type": "text/css" } }));

const headers = {
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "referrer-policy": "no-referrer",
};

const entry = (code: string, facts: string, meaning: string): string =>
  `<dt id="${code}"><a href="#${code}"><code>${code}</code></a> <span>${facts}</span></dt><dd>${marked(meaning)}</dd>`;

// A code may be both an answer of the API and a run's end: an id stands on a page only once.
const answers = Object.entries(catalogue).map(([code, { status, type, meaning }]) => {
  const alsoEnds = code in runErrors ? ` As a run's error: ${runErrors[code as keyof typeof runErrors]}` : "";
  return entry(code, `${status} ${type}`, meaning + alsoEnds);
});
const ends = Object.entries(runErrors)
  .filter(([code]) => !(code in catalogue))
  .map(([code, meaning]) => entry(code, "run_error", meaning));

function marked(text: string): string {
  const escaped = text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return escaped.replace(/`([^`]+)`/g, "<code>$1</code>");
}

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors · runnel</title>
<link rel="stylesheet" href="/docs/errors.css">
</head>
<body>
<main>
<h1>Errors</h1>
<p>What went wrong stands in <code>error.code</code>, for programs; <code>error.message</code> is for people and may change.
Whoever asks the operator about an error gives its <code>request_id</code>.</p>
<h2>Answers of the API</h2>
<dl>
${answers.join("\n")}
</dl>
<h2>Ends of a run</h2>
<p>A run that did not complete says why in its own <code>error.code</code>; the request that reads it succeeds.</p>
<dl>
${ends.join("\n")}
</dl>
</main>
</body>
</html>
`;

const style = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1, h2 { line-height: 1.2; }
code { font: 0.9em ui-monospace, monospace; }
dt { margin-top: 1.25rem; font-weight: 600; }
dt a { color: inherit; text-decoration: none; }
dt a:hover, dt a:focus-visible { text-decoration: underline; }
dt span { font-weight: 400; font-size: 0.85em; opacity: 0.75; }
dt:target { outline: 2px solid; outline-offset: 0.25rem; }
dd { margin: 0.25rem 0 0; }
`;
