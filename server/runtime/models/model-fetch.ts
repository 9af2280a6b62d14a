export type Fetch = typeof globalThis.fetch;

async function request(url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]): Promise<Response> {
  // Bun's own timeout is five minutes, and a reasoning model may be silent for longer: the run's timeout decides.
  // Redirects are not followed, because the key in `x-api-key` would be sent to another host.
  return fetch(url, { ...init, redirect: "manual", timeout: false } as RequestInit);
}

/** The fetch of all model calls. */
export const modelFetch: Fetch = Object.assign(request, { preconnect: fetch.preconnect });
