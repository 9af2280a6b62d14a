/** HTML of the page, the same for all agents. Its script reads the agent and the secret after the `#`. */
const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <meta name="color-scheme" content="light dark" />
    <title>Chat</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="/chat.css" />
    <script src="/chat.js" defer></script>
  </head>
  <body>
    <main id="chat">
      <noscript>This chat needs JavaScript.</noscript>
    </main>
  </body>
</html>
`;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' blob: data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export const chatPage = (): Response =>
  new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-cache",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex",
    },
  });
