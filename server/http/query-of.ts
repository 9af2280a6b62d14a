let last: { url: string; query: URLSearchParams } | undefined;

/**
 * The query of a request's address; nobody may change it. Whoever asks after another asks of the same request, and many
 * requests are to the same address: an address takes longer to read than most of what is asked of it.
 */
export function queryOf(url: string): URLSearchParams {
  if (last?.url !== url) last = { url, query: new URL(url).searchParams };
  return last.query;
}
