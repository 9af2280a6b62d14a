/** What the browser calls us. No page of another site can set the header of a proxy, which knows what the browser spoke. */
export function originOf({ url, headers }: Request): string | undefined {
  const forwarded = headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim();
  return URL.parse(`${forwarded ?? new URL(url).protocol.slice(0, -1)}://${headers.get("host")}`)?.origin;
}
