/** What is wrong with an origin that pages may come from, as a sentence; null: nothing. */
export function originFault(text: string): string | null {
  const url = URL.parse(text);
  if (!url || url.origin !== text)
    return "Expected an origin such as https://example.com: no path, no slash at its end.";
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && isHere)) return null;
  return "Expected https. Plain http is for localhost.";
}
