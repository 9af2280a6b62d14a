export type Fetch = typeof globalThis.fetch;

async function request(url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]): Promise<Response> {
  // Bun gives up after five silent minutes, and a reasoning model may think for longer: the run's own timeout decides.
  // A redirect is not followed, since the key in `x-api-key` would go along to a host that nobody configured.
  return fetch(url, { ...init, redirect: "manual", timeout: false } as RequestInit);
}

/** The fetch of all model calls. */
export const modelFetch: Fetch = Object.assign(request, { preconnect: fetch.preconnect });
