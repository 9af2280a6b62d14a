import { otherBase } from "./base-address.ts";
import type { ChatDialect } from "./chat-dialect.ts";

/** Addresses of an operation: the likely one, and the one to try if the server does not have it. */
interface Addresses {
  first: string;
  other: string | null;
}

/**
 * Returns the addresses of `path` under a connection's base URL. People give it with and without `/v1`, as the whole
 * address of the operation, and with a query such as `?api-version=`, which is kept.
 */
export function addressesOf(
  base_url: string,
  path: string,
  { address }: Pick<ChatDialect, "address">,
  model: string,
): Addresses {
  const url = new URL(base_url);
  const base = url.pathname.replace(/\/+$/, "");
  const at = (pathname: string): string => {
    const found = new URL(url);
    found.pathname = pathname;
    return String(found);
  };
  if (base.endsWith(path)) return { first: at(base), other: null };
  if (address === "azure") return { first: at(`${azureBase(base, url.searchParams, model)}${path}`), other: null };
  return { first: at(`${base}${path}`), other: at(`${otherBase(base)}${path}`) };
}

/** Versions of Azure's API that are dates have the deployment in the path; the newer API has the model in the body. */
function azureBase(base: string, query: URLSearchParams, model: string): string {
  if (/\/deployments\/[^/]+$/.test(base) || base.endsWith("/v1")) return base;
  const root = base.endsWith("/openai") ? base : `${base}/openai`;
  const isDated = /^\d{4}-/.test(query.get("api-version") ?? "");
  return isDated ? `${root}/deployments/${encodeURIComponent(model)}` : `${root}/v1`;
}
