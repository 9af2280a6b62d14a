/**
 * Gives a request for a very short host an address that the framework can route: it looks for the path from the 12th
 * character on and would cut `/v1` off `https://a/v1/me`. Only the address changes; headers, body and peer stay.
 */
export function routable(request: Request): Request {
  const { url } = request;
  if (shortHost.test(url)) Object.defineProperty(request, "url", { value: url.replace(shortHost, "$1localhost") });
  return request;
}

const shortHost = /^(https?:\/\/)[^/]{1,3}(?=\/)/;
