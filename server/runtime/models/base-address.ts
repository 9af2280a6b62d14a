import { textOf } from "./body-text.ts";
import type { Fetch } from "./model-fetch.ts";

type Send = (address: string) => Promise<Response>;

/**
 * Returns a function that sends to the first address. If the server does not have it, the other one is tried once, and
 * used from then on if the server has it.
 */
export function eitherAddress(first: string, other: string | null): (send: Send) => Promise<Response> {
  let [address, isKnown] = [first, other === null];

  return async (send) => {
    const response = await send(address);
    if (isKnown || other === null || !(await isMissing(response))) {
      isKnown ||= response.ok;
      return response;
    }
    isKnown = true;
    const second = await send(other);
    const isFound = !(await isMissing(second));
    if (isFound) address = other;
    await (isFound ? response : second).body?.cancel();
    return isFound ? second : response;
  };
}

const refusalMax_bytes = 64 * 1024;

/** True if a server does not have an operation; false if it only lacks the model that it is for. */
async function isMissing(response: Response): Promise<boolean> {
  if (response.status === 405) return true;
  if (response.status !== 404) return false;
  const words = await textOf(response.clone() as Response, refusalMax_bytes).catch(() => "");
  return !/\bmodel\b/i.test(words);
}

const version = "/v1";

/** Returns a path with `/v1` at its end if it has none, else without it. */
export const otherBase = (path: string): string =>
  path.endsWith(version) ? path.slice(0, -version.length) : `${path}${version}`;

/**
 * Returns the address that an SDK appends its paths to, and a fetch that completes it: with the query of the base URL,
 * and with or without `/v1`, as the server has it.
 */
export function baseAddress(base_url: string, fetch: Fetch): { url: string; fetch: Fetch } {
  const { origin, pathname, searchParams } = new URL(base_url);
  const path = pathname.replace(/\/+$/, "");
  const sendToEither = eitherAddress(path, otherBase(path));

  const send = (...[input, init]: Parameters<Fetch>): Promise<Response> =>
    sendToEither((base) => {
      const url = new URL(input instanceof Request ? input.url : input);
      url.pathname = base + url.pathname.slice(path.length);
      for (const [name, value] of searchParams) url.searchParams.set(name, value);
      return fetch(String(url), init);
    });

  return { url: `${origin}${path}`, fetch: Object.assign(send, { preconnect: fetch.preconnect }) };
}
