/**
 * Rewrites the URL of a request to a very short host, because Elysia looks for the path from the 12th character on and
 * would cut `/v1` off `https://a/v1/me`. Headers, body and peer stay.
 */
export function normalizeHost(request: Request): Request {
  const { url } = request;
  if (shortHost.test(url)) Object.defineProperty(request, "url", { value: url.replace(shortHost, "$1localhost") });
  return request;
}

const shortHost = /^(https?:\/\/)[^/]{1,3}(?=\/)/;
