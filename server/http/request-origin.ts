/**
 * Returns the origin as the browser sees it. `x-forwarded-proto` is safe here, because pages of other sites cannot set
 * it.
 */
export function requestOrigin({ url, headers }: Request): string | undefined {
  const forwarded = headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim();
  return URL.parse(`${forwarded ?? new URL(url).protocol.slice(0, -1)}://${headers.get("host")}`)?.origin;
}
