import type { ConnectionToken } from "../../domain/connection-auth.ts";
import { AppError } from "../../domain/errors.ts";
import { grantIdentity, losesGrants } from "../../http/oauth-client-faults.ts";
import type { Log } from "../../lib/log.ts";
import { randomToken } from "../../lib/random-token.ts";
import { type CallbackOutcome, otherBrowser, stale } from "../../runtime/oauth/callback-outcome.ts";
import type { IssuerClient } from "../../runtime/oauth/client-definition.ts";
import type { IssuerRequests } from "../../runtime/oauth/issuer-client.ts";
import { OAuthFailure } from "../../runtime/oauth/oauth-failure.ts";
import type { TokenSet } from "../../runtime/oauth/read-tokens.ts";
import { isNew, isPending } from "../../runtime/oauth/token-age.ts";
import type { Actor, Audit } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import { type ConnectionGrant, type ConnectionGrants, refresh_ms } from "./connection-grants.ts";

export type ConnectionConsents = ReturnType<typeof createConnectionConsents>;

interface ConsentOptions {
  db: Db;
  audit: Audit;
  grants: ConnectionGrants;
  requests: Pick<IssuerRequests, "authorizationUrl" | "consentHost" | "exchange" | "refresh">;
  /** Returns the client of a stored connection with an authorization code; null if there is none. */
  clientOf(connection: string): IssuerClient | null;
  /** False in the cells of a cluster that have copies of the connections: the first cell refreshes their tokens. */
  mayRefresh: boolean;
  log: Log;
  now: () => number;
  onRevoked(): void;
}

/** A stored request for a consent. Its state is secret: who has it can consent. */
interface ConsentRequest {
  state: string;
  expires_at_ms: number;
}

/** States of connections; others are those of the OAuth clients of projects. */
const statePrefix = "connection.";
const isState = (text: string): boolean => text.startsWith(statePrefix) && text.length <= 200;
/** A token is replaced before its end, because a request that carries it takes a while, and clocks differ. */
const early_ms = 60_000;
/** The first cell refreshes earlier, because the copies of the other cells follow it. */
const ahead_ms = 180_000;
/** An issuer that refused is not asked again at once by the calls of many runs. */
const pause_ms = { retryable: 1000, final: 10_000 };
const poll_ms = 100;

/**
 * Tokens of connections to which an operator consented once (authorization code with PKCE). They are stored before a
 * call uses them, and refreshed once for all runs, workers and processes: an issuer that rotates refresh tokens takes
 * the second use of one for a theft.
 */
export function createConnectionConsents(options: ConsentOptions) {
  const { db, audit, grants, requests, clientOf, mayRefresh, log, now } = options;
  /** Refreshes under way, by connection and client: a call never waits for the token of another issuer. */
  const flights = new Map<string, Promise<ConnectionToken>>();
  const pauses = new Map<string, { until: number; of: string; answer: ConnectionToken }>();
  /** Refreshed tokens that the storage did not take yet: the former refresh token is spent. */
  const unstored = new Map<string, { row: ConnectionGrant; client: IssuerClient; fresh: TokenSet }>();
  const keyOf = (connection: string, client: IssuerClient): string => `${connection} ${grantIdentity(client)}`;

  /** True if tokens of this client still belong to the connection. */
  function isSame(connection: string, client: IssuerClient): boolean {
    const current = clientOf(connection);
    return current !== null && !losesGrants(client, current, true);
  }

  /** Returns what is known already: a token, or the reason why there is none; null if the grant has to be renewed. */
  function held(connection: string, client: IssuerClient, rejected?: string): ConnectionToken | null {
    if (!isSame(connection, client)) return changed;
    const row = grants.of(connection);
    if (!row) return failed(`No operator has connected it yet. ${howTo(connection)}`);
    const tokens = grants.tokensOf(row);
    if (row.status === "failed" || !tokens)
      return failed(`${row.error?.message ?? "Its consent has ended."} ${howTo(connection)}`);
    if (tokens.client !== grantIdentity(client)) return { ...changed, retryable: !mayRefresh };
    const { access_token } = tokens;
    const isKept = access_token !== rejected || isNew(row.refreshed_at_ms ?? row.created_at_ms, now());
    if (tokens.refresh_token === null) {
      if (row.expires_at_ms !== null && row.expires_at_ms <= now())
        return failed(`Its token has expired, and nothing can refresh it. ${howTo(connection)}`);
      if (isKept) return { status: "ready", token: access_token };
      return mayRefresh ? null : failed(`${refusedToken.message} ${howTo(connection)}`);
    }
    if (isKept && isFresh(row, mayRefresh ? early_ms : 0)) return { status: "ready", token: access_token };
    if (!mayRefresh) return { status: "failed", message: "Its token is being refreshed.", retryable: true };
    return null;
  }

  /** True if a token has more time left than this; of a token that lives shorter, half is used. */
  function isFresh({ expires_at_ms, refreshed_at_ms, created_at_ms }: ConnectionGrant, reserve_ms: number): boolean {
    if (expires_at_ms === null) return true;
    const lifetime_ms = expires_at_ms - (refreshed_at_ms ?? created_at_ms);
    return expires_at_ms - Math.min(reserve_ms, lifetime_ms / 2) > now();
  }

  function get(connection: string, client: IssuerClient, rejected?: string): Promise<ConnectionToken> {
    const flight = flights.get(keyOf(connection, client));
    if (flight && isSame(connection, client)) return flight;
    const found = held(connection, client, rejected);
    if (found) return Promise.resolve(found);
    return refreshOnce(connection, client, rejected);
  }

  function refreshOnce(connection: string, client: IssuerClient, rejected?: string): Promise<ConnectionToken> {
    const key = keyOf(connection, client);
    const started = refresh(connection, client, rejected).finally(() => {
      flights.delete(key);
    });
    flights.set(key, started);
    return started;
  }

  /** Refreshes a grant that this process has reserved, or waits for the process that has. */
  async function refresh(connection: string, client: IssuerClient, rejected?: string): Promise<ConnectionToken> {
    const late = unstored.get(connection);
    if (late) {
      const answer = (await store(late.row, late.client, late.fresh)) ?? held(connection, client, rejected);
      if (answer) return answer;
    }
    for (;;) {
      const row = grants.of(connection);
      const tokens = row && grants.tokensOf(row);
      const refresh_token = tokens?.client === grantIdentity(client) ? tokens.refresh_token : null;
      if (!row || refresh_token === null)
        return held(connection, client, rejected) ?? (await end(row, client, rejected));
      const pause = pauses.get(connection);
      if (pause && isPending(pause.until, pause_ms.final, now()) && pause.of === row.sealed) return pause.answer;
      if (await db.write(() => grants.claim(row))) return await request(row, client, refresh_token, rejected);
      await Bun.sleep(poll_ms);
      if (grants.of(connection)?.sealed === row.sealed) continue;
      const found = held(connection, client, rejected);
      if (found) return found;
    }
  }

  /** Ends a grant whose token the model's server refused: nothing can refresh it. */
  async function end(row: ConnectionGrant | null, client: IssuerClient, rejected?: string): Promise<ConnectionToken> {
    if (!row) return changed;
    await db.write(() => void grants.fail(row, refusedToken));
    return held(row.connection, client, rejected) ?? changed;
  }

  async function request(
    row: ConnectionGrant,
    client: IssuerClient,
    refresh_token: string,
    rejected: string | undefined,
  ): Promise<ConnectionToken> {
    const { connection } = row;
    const deadline = AbortSignal.timeout(refresh_ms);
    let fresh: TokenSet;
    try {
      fresh = await requests.refresh("live", client, refresh_token, deadline);
    } catch (error) {
      await db.write(() => grants.release(row)).catch((fault) => log.warn("a claim could not be released", { fault }));
      if (!(error instanceof OAuthFailure)) throw error;
      const isLate = deadline.aborted && error.code === "issuer_unreachable";
      return await refused(row, client, isLate ? tooLate : error, rejected);
    }
    pauses.delete(connection);
    return (await store(row, client, fresh)) ?? held(connection, client, rejected) ?? changed;
  }

  /** Stores refreshed tokens of a client; null if their grant was replaced or deleted meanwhile. */
  async function store(row: ConnectionGrant, client: IssuerClient, fresh: TokenSet): Promise<ConnectionToken | null> {
    const { connection } = row;
    try {
      const isStored = await db.write(() => {
        const isCurrent = grants.refresh(row, client, fresh);
        if (!isCurrent) revokeUnused(connection, client, fresh);
        return isCurrent;
      });
      unstored.delete(connection);
      if (isStored) return { status: "ready", token: fresh.access_token };
      options.onRevoked();
      return null;
    } catch (error) {
      log.error("refreshed tokens of a connection could not be stored", { connection, error });
      unstored.set(connection, { row, client, fresh });
      return isSame(connection, client) ? { status: "ready", token: fresh.access_token } : null;
    }
  }

  /** Queues the revocation of tokens that are not stored, unless it could end a newer consent of the same person. */
  function revokeUnused(connection: string, client: IssuerClient, fresh: TokenSet): void {
    if (!grants.current(connection) || !isSame(connection, client)) grants.revokeLater(client, fresh);
  }

  async function refused(
    row: ConnectionGrant,
    client: IssuerClient,
    { code, message, retryable }: OAuthFailure,
    rejected: string | undefined,
  ): Promise<ConnectionToken> {
    const { connection } = row;
    if (code === "grant_refused") {
      await db.write(() => void grants.fail(row, { code, message }));
      return held(connection, client, rejected) ?? changed;
    }
    // The issuer was asked about something that is over: neither its answer nor the former token counts any more.
    if (!isSame(connection, client) || grants.of(connection)?.sealed !== row.sealed)
      return held(connection, client, rejected) ?? changed;
    const access_token = grants.tokensOf(row)?.access_token;
    const isUsable = access_token !== undefined && access_token !== rejected && isFresh(row, 0);
    const answer: ConnectionToken = isUsable
      ? { status: "ready", token: access_token }
      : { status: "failed", message, retryable };
    const until = now() + (retryable ? pause_ms.retryable : pause_ms.final);
    pauses.set(connection, { until, of: row.sealed, answer });
    return answer;
  }

  return {
    /**
     * Returns the token of a connection; `client` is the one for which the caller was set up. `rejected` is a token that
     * the model's server refused: it is refreshed even before its end, unless it was issued just now.
     */
    get,

    /**
     * Stores a request for an operator's consent. Throws `resource_not_found` without such a connection, and if the
     * operator could not be sent to the authorization server.
     */
    async authorize(connection: string, redirect_uri: string, actor: Actor): Promise<ConsentRequest> {
      const client = clientOf(connection);
      if (!client)
        throw new AppError(
          "resource_not_found",
          `There is no stored connection "${connection}" with an authorization code.`,
          { param: "name" },
        );
      const state = statePrefix + randomToken();
      const { client_secret: _, grant: __, ...definition } = client;
      const attempt = { verifier: randomToken(), redirect_uri, scopes: client.scopes, definition, actor };
      // The address is created again when the operator goes there. What is wrong with it is said now.
      await requests.authorizationUrl("live", client, { ...attempt, state }).catch(throwAppError);
      const expires_at_ms = await db.write(() => grants.addConsent(state, connection, attempt));
      return { state, expires_at_ms };
    },

    /** True for texts that may be the state of a connection's consent, and are none of a project's. */
    isState,

    /** Returns what a request is for, and the host where the operator consents; null if it is over. */
    async shown(state: string): Promise<{ connection: string; host: string } | null> {
      const attempt = grants.findConsent(state);
      const client = attempt && clientOf(attempt.connection);
      if (!client || losesGrants(attempt.definition, client, true)) return null;
      return { connection: attempt.connection, host: await requests.consentHost("live", client).catch(throwAppError) };
    },

    /**
     * Binds a request to the browser with this cookie, and returns the address of the authorization server; null if the
     * request is over.
     */
    async send(state: string, browser: string): Promise<string | null> {
      const attempt = await db.write(() => grants.bindConsent(state, browser));
      const client = attempt && clientOf(attempt.connection);
      if (!client || losesGrants(attempt.definition, client, true)) return null;
      return await requests.authorizationUrl("live", client, { ...attempt, state }).catch(throwAppError);
    },

    /**
     * Ends a consent with what the browser brought back; null if the state is none of a connection. `browser` is its
     * cookie; null if it has none.
     */
    async complete(query: URLSearchParams, browser: string | null): Promise<CallbackOutcome | null> {
      const state = query.get("state") ?? "";
      if (!isState(state)) return null;
      // Taken before the exchange: a code that came twice, or in two windows at once, is used once.
      const attempt = browser === null ? null : await db.write(() => grants.takeConsent(state, browser));
      // Without its cookie it is the browser of another person: the request stays for the one that it is of.
      if (!attempt) return grants.findConsent(state) ? otherBrowser : stale;
      const { connection, actor, definition } = attempt;
      const fail = async (code: string, message: string): Promise<CallbackOutcome> => {
        await db.write(() => void grants.endConsent(state, { code, message }));
        return { granted: false, code, message, clientName: connection, returnUrl: null };
      };
      const client = clientOf(connection);
      // The code is of the server to which the operator was sent, and must not reach another one.
      if (!client || losesGrants(definition, client, true)) return await fail("client_changed", changed.message);
      let fresh: TokenSet;
      try {
        fresh = await requests.exchange("live", client, query, { ...attempt, state });
      } catch (error) {
        if (!(error instanceof OAuthFailure)) throw error;
        return await fail(error.code, error.message);
      }
      const isStored = await db.write(() => {
        // A connection that was removed and added again is another one, though its client may be the same.
        if (!isSame(connection, client) || !grants.endConsent(state, null)) {
          revokeUnused(connection, client, fresh);
          return false;
        }
        grants.insert(connection, client, fresh, attempt.scopes);
        audit.note({ actor }, "model_connection.connected", connection);
        return true;
      });
      options.onRevoked();
      pauses.delete(connection);
      if (!isStored) return await fail("client_changed", changed.message);
      return { granted: true, clientName: connection, returnUrl: null };
    },

    /** Outcome of a consent; null while it is under way. */
    outcomeOf: grants.outcomeOf,
    forgetExpired: grants.forgetExpired,

    /** Refreshes the tokens that end soon, for the cells that have copies of them. */
    refreshAhead(): void {
      if (!mayRefresh) return;
      for (const row of grants.all()) {
        const client = row.is_refreshable && !isFresh(row, ahead_ms) ? clientOf(row.connection) : null;
        if (!client || flights.has(keyOf(row.connection, client))) continue;
        refreshOnce(row.connection, client).catch((error) => log.error("a token was not refreshed", { error }));
      }
    },

    /**
     * Resolves once no token is being refreshed, because the answer of an issuer that rotates must not be lost. A server
     * that stops waits for less time than a refresh may take: after a later answer, an operator has to connect again.
     */
    async stop(): Promise<void> {
      while (flights.size > 0) await Promise.allSettled(flights.values());
    },
  };
}

const failed = (message: string): ConnectionToken => ({ status: "failed", message, retryable: false });

const changed = {
  status: "failed" as const,
  message: "The connection was changed or removed.",
  retryable: false,
};

const tooLate = new OAuthFailure(
  "issuer_unreachable",
  `The authorization server took longer than ${refresh_ms / 1000} seconds.`,
  true,
);

const refusedToken = {
  code: "token_rejected",
  message: "The model's server refused its token, and nothing can refresh it.",
};

const howTo = (connection: string): string =>
  `An owner connects it in the settings of the dashboard, or with: runnel connections connect ${connection}`;

function throwAppError(error: unknown): never {
  throw error instanceof OAuthFailure ? toAppError(error) : error;
}

/** Turns a failure into the answer to a request. */
const toAppError = ({ code, message, retryable }: OAuthFailure): AppError =>
  code === "url_not_allowed"
    ? new AppError("url_not_allowed", message)
    : new AppError("oauth_server_failed", message, { ...(retryable && { retryAfter: 10 }) });
