import type { ConnectionAuth, ConnectionToken } from "../../domain/connection-auth.ts";
import type { IssuerClient } from "../../runtime/oauth/client-definition.ts";
import type { IssuerRequests } from "../../runtime/oauth/issuer-client.ts";
import { OAuthFailure } from "../../runtime/oauth/oauth-failure.ts";
import { isNew, isPending } from "../../runtime/oauth/token-age.ts";
import type { ConnectionConsents } from "./connection-consents.ts";

export type ConnectionTokens = ReturnType<typeof createConnectionTokens>;

interface TokenOptions {
  requests: Pick<IssuerRequests, "clientCredentials">;
  /** Tokens of connections with an authorization code, which are stored. */
  consents: Pick<ConnectionConsents, "get">;
  now: () => number;
}

interface Source {
  connection: string;
  client: IssuerClient;
  current: { token: string; issued_at: number; until: number } | null;
  pending: Promise<ConnectionToken> | null;
  pause: { until: number; answer: ConnectionToken } | null;
}

const sources_max = 256;
/** A token is replaced before its end, because a request that carries it takes a while, and clocks differ. */
const early_ms = 60_000;
/** Lifetime of tokens whose issuer does not say it: an earlier end shows by a refusal. */
const unknown_ms = 3_600_000;
/** An issuer that refused is not asked again at once by the calls of many runs. */
const pause_ms = { retryable: 1000, final: 10_000 };

/** Returns the client of a connection; `client_secret` is null if it has none. */
export function clientIn(auth: ConnectionAuth, client_secret: string | null): IssuerClient {
  const { type: _, ...definition } = auth;
  return { ...definition, authorization_params: {}, client_secret };
}

/**
 * Access tokens of model connections. Those of client credentials are in memory: requested with the first call, shared by all runs and workers, and
 * replaced before their end or after a refusal. Sources are named by the state of their connection, so that calls
 * which began before a change of it never send the token of the new one to the old address.
 */
export function createConnectionTokens({ requests, consents, now }: TokenOptions) {
  const sources = new Map<string, Source>();

  async function request(source: Source): Promise<ConnectionToken> {
    try {
      const { access_token, expires_in_seconds } = await requests.clientCredentials("live", source.client);
      const lifetime_ms = expires_in_seconds === null ? unknown_ms : expires_in_seconds * 1000;
      // A token that lives shorter than the reserve is replaced after half of its life.
      const until = now() + Math.max(lifetime_ms - early_ms, lifetime_ms / 2);
      source.current = { token: access_token, issued_at: now(), until };
      source.pause = null;
      return { status: "ready", token: access_token };
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      const { message, retryable } = error;
      const answer: ConnectionToken = { status: "failed", message, retryable };
      source.pause = { until: now() + (retryable ? pause_ms.retryable : pause_ms.final), answer };
      return answer;
    }
  }

  return {
    /** Adds the source of a connection's state, unless it is known. `name` is that of the source. */
    add(name: string, connection: string, client: IssuerClient): void {
      const known = sources.get(name);
      if (known) {
        // Moved to the end: the first one is the longest unused.
        sources.delete(name);
        sources.set(name, known);
        return;
      }
      const [oldest] = sources.keys();
      if (oldest !== undefined && sources.size >= sources_max) sources.delete(oldest);
      sources.set(name, { connection, client, current: null, pending: null, pause: null });
    },

    /**
     * Returns a token. `rejected` is one that the model's server refused: it is replaced even before its end, unless it
     * was issued just now. All who ask at the same time share one request.
     */
    get(name: string, rejected?: string): Promise<ConnectionToken> {
      const source = sources.get(name);
      if (!source) return Promise.resolve(unknownSource);
      if (source.client.grant === "authorization_code") return consents.get(source.connection, source.client, rejected);
      const { current, pause } = source;
      if (source.pending) return source.pending;
      if (current && now() < current.until) {
        const isKept = current.token !== rejected || isNew(current.issued_at, now());
        if (isKept) return Promise.resolve({ status: "ready", token: current.token });
      }
      if (pause && isPending(pause.until, pause_ms.final, now())) return Promise.resolve(pause.answer);
      const started = request(source).finally(() => {
        source.pending = null;
      });
      source.pending = started;
      return started;
    },
  };
}

const unknownSource: ConnectionToken = {
  status: "failed",
  message: "The connection was changed or removed.",
  retryable: false,
};
