let last: { url: string; query: URLSearchParams } | undefined;

/**
 * Returns the parsed query string, read-only. Cached for the last URL: parsing a URL costs more than most reads of it,
 * and repeated requests often have the same URL.
 */
export function cachedQuery(url: string): URLSearchParams {
  if (last?.url !== url) last = { url, query: new URL(url).searchParams };
  return last.query;
}
