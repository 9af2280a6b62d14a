/** A page for a person. Texts are plain; `facts` are shown as a list of names and values. */
interface PersonPage {
  title: string;
  text: string;
  facts?: readonly (readonly [name: string, value: string])[];
  /** A button that sends an empty form to the page's own address. */
  button?: string;
}

const style = `:root{font:1rem/1.5 system-ui,sans-serif;color-scheme:light dark}
body{margin:0;padding:1.5rem;overflow-wrap:anywhere}
main{max-width:34rem;margin:8vh auto 0}
h1{font-size:1.4rem;line-height:1.3;margin:0 0 .75rem}
p,dl{margin:0 0 1.25rem}
dt{font-size:.875rem;opacity:.75}
dd{margin:0 0 .5rem;font-weight:600}
button{font:inherit;font-weight:600;padding:.6rem 1.1rem;border-radius:.5rem;border:1px solid ButtonBorder;max-width:100%;overflow-wrap:anywhere;cursor:pointer}`;

const styleHash = new Bun.CryptoHasher("sha256").update(style).digest("base64");

/**
 * Returns the headers of a page without scripts and links, which no other page shows and no cache keeps. `forms` are
 * the places to which its form may lead, with all redirects: browsers check each of them.
 */
const headersOf = (forms: string) => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
});

export const personPageHeaders = headersOf("'none'");

/** Returns a plain page for a person whose browser came to an address of the API. */
export function personPage(
  { title, text, facts = [], button }: PersonPage,
  status: number,
  headers: Record<string, string> = {},
): Response {
  const list = facts.map(([name, value]) => `<dt>${escaped(name)}</dt><dd><bdi>${escaped(value)}</bdi></dd>\n`);
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${list.length > 0 ? `<dl>\n${list.join("")}</dl>\n` : ""}<p>${escaped(text)}</p>
${button === undefined ? "" : `<form method="post"><button>${escaped(button)}</button></form>\n`}</main>
</body>
</html>
`;
  // A form's target redirects to the authorization server, and that may redirect to any host where its users sign in.
  const fixed = button === undefined ? personPageHeaders : headersOf("'self' https: http:");
  return new Response(page, { status, headers: { ...headers, ...fixed } });
}

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
