import type { ConnectionToken } from "../../domain/connection-auth.ts";
import { unlessAborted } from "../../lib/on-abort.ts";
import { maskSecrets } from "../../lib/redact.ts";
import { textOf } from "./body-text.ts";
import { saysTokenExpired } from "./fault-words.ts";
import { type Connection, type Model, unknownUsage } from "./model.ts";
import { abortedError, JudgedFailure, unavailableError } from "./model-error.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";

/** Returns a token of a connection. `rejected` is one that its server refused. */
export type AskToken = (source: string, rejected?: string) => Promise<ConnectionToken>;

type TokenFailure = Extract<ConnectionToken, { status: "failed" }>;

const errorMax_bytes = 64 * 1024;
const keyHeaders = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];

/** Error of a call without a token: the outage of the authorization server is that of the connection. */
const tokenError = ({ message, retryable }: TokenFailure) => ({
  ...unavailableError(`The connection got no access token: ${message}`),
  ...(retryable && { code: "model_error" as const, retryable, unready: true }),
  request: "not_sent" as const,
});

/** Replaces the key's header of each provider by that of a token. */
export function withBearer(fetch: Fetch, token: string): Fetch {
  const send = (url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]) => {
    const headers = new Headers(init?.headers);
    for (const name of keyHeaders) headers.delete(name);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(url, { ...init, headers });
  };
  return Object.assign(send, { preconnect: fetch.preconnect });
}

/**
 * Returns a fetch whose requests carry a connection's token, for work on the main thread. A request that is refused for
 * its token is sent once more with a new one. No error's body has the token.
 */
export function tokenFetch(ask: (rejected?: string) => Promise<ConnectionToken>, fetch: Fetch = modelFetch): Fetch {
  const token = async (rejected?: string): Promise<string> => {
    const found = await ask(rejected);
    if (found.status === "failed") throw new JudgedFailure(tokenError(found));
    return found.token;
  };
  const send = async (...request: Parameters<Fetch>): Promise<Response> => {
    const first = await token();
    const response = await safeErrors(await withBearer(fetch, first)(...request), first);
    if (!(await isTokenRefused(response))) return response;
    const fresh = await ask(first);
    if (fresh.status === "failed" || fresh.token === first) return response;
    await response.body?.cancel();
    return safeErrors(await withBearer(fetch, fresh.token)(...request), fresh.token);
  };
  return Object.assign(send, { preconnect: fetch.preconnect });
}

/** Returns a response; the body of an error is bounded, and has no token. */
async function safeErrors(response: Response, token: string): Promise<Response> {
  if (response.ok) return response;
  const { status, statusText, headers } = response;
  const body = maskSecrets(await textOf(response, errorMax_bytes), [token]);
  const plain = new Headers(headers);
  for (const name of ["content-length", "content-encoding"]) plain.delete(name);
  return new Response(status === 304 || status === 204 ? null : body, { status, statusText, headers: plain });
}

async function isTokenRefused(response: Response): Promise<boolean> {
  if (response.status === 401) return true;
  return response.status === 403 && saysTokenExpired(await (response.clone() as Response).text());
}

/**
 * Returns a model whose calls carry a connection's token. Each token has a model of its own, which hides it in answers.
 * A call that is refused for its token is made once more with a new one.
 */
export function tokenModel(
  connection: Connection & { token_source: string },
  open: (connection: Connection) => Promise<Model>,
  ask: AskToken,
): Model {
  return {
    async *stream(request, signal, observer) {
      let rejected: string | undefined;
      for (;;) {
        if (signal.aborted) {
          yield { type: "error", error: abortedError, usage: unknownUsage };
          return;
        }
        const found = await unlessAborted(ask(connection.token_source, rejected), signal).catch((error) => {
          if (!signal.aborted) throw error;
          return null;
        });
        if (!found) continue;
        if (found.status === "failed") {
          yield { type: "error", error: tokenError(found), usage: unknownUsage };
          return;
        }
        const { token } = found;
        const isLast = rejected !== undefined;
        const model = await open({ ...connection, api_key: token });
        let isAgain = false;
        for await (const event of model.stream(request, signal, observer)) {
          isAgain = !isLast && event.type === "error" && event.error.refuses_credentials === true;
          if (isAgain) break;
          yield event;
        }
        if (!isAgain) return;
        rejected = token;
      }
    },
  };
}
