import type { AccessToken } from "../../domain/access-token.ts";
import { AppError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { invalid } from "../../http/errors.ts";
import { losesGrants } from "../../http/oauth-client-faults.ts";
import { createEventEmitter } from "../../lib/event-emitter.ts";
import { randomToken } from "../../lib/random-token.ts";
import { type CallbackOutcome, otherBrowser, stale, stopping } from "../../runtime/oauth/callback-outcome.ts";
import type { IssuerRequests } from "../../runtime/oauth/issuer-client.ts";
import { OAuthFailure } from "../../runtime/oauth/oauth-failure.ts";
import type { TokenSet } from "../../runtime/oauth/read-tokens.ts";
import { isNew } from "../../runtime/oauth/token-age.ts";
import type { Audit } from "../../storage/db/audit.ts";
import { itself } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import type { AuthorizationStore } from "./authorization-store.ts";
import type { ClientStore } from "./client-store.ts";
import type { GrantStore } from "./grant-store.ts";
import type { OpenRequests } from "./open-requests.ts";
import type { Revocations } from "./revocations.ts";
import { type ClientRow, definitionOf, type GrantRow, holderOf } from "./row.ts";
import type { StoredTokens } from "./secrets.ts";

/** A grant that was stored after its user consented. */
interface NewGrant {
  scope: Scope;
  oauthClientId: string;
  userId: string | null;
}

/** A consent that its user refused. */
interface DeniedGrant {
  scope: Scope;
  oauthClientId: string;
  /** The run for which it was asked; null if it was for none. */
  runId: string | null;
  /** The words of the authorization server. */
  reason: string;
}

/** A stored request for a consent. Its state is secret: who has it can consent. */
interface ConsentRequest {
  state: string;
  expiresAt: number;
}

/** The client and the user for whom a consent is requested; null: for the project. */
interface RequestedConsent {
  scope: Scope;
  oauthClientId: string;
  userId: string | null;
}

export interface AccessTokens {
  /**
   * Returns the token of a client. `userId` is the run's; ignored by clients that are not per user. Refreshes once for
   * all who ask at the same time. `rejected` is the token that a server refused with 401: it is refreshed even if it has
   * not expired. `missing` are scopes that the server missed in it: the user has to consent to them.
   */
  get(
    scope: Scope,
    oauthClientId: string,
    userId: string | null,
    rejected?: string,
    missing?: readonly string[],
  ): Promise<AccessToken>;
  /** Stores a request for a consent. Throws if the user could not be sent to the authorization server. */
  authorize(
    scope: Scope,
    oauthClientId: string,
    request: { userId: string | null; runId?: string; returnUrl?: string },
  ): Promise<ConsentRequest>;
  /** Returns what a request is for; null if it is over. */
  requested(state: string): RequestedConsent | null;
  /**
   * Returns a client as its users see it: its name, and the host where they consent, for which its issuer may be asked.
   * Null: it was deleted. Throws if the issuer does not tell.
   */
  shown(scope: Scope, oauthClientId: string): Promise<{ name: string; host: string } | null>;
  /**
   * Binds a request to the browser with this cookie, and returns the address of the authorization server; null if the
   * request is over. The callback stores the grant and then calls every listener of `onGranted`.
   */
  send(state: string, browser: string): Promise<string | null>;
  onGranted(listener: (grant: NewGrant) => void): void;
  /** Calls back when a user came back from the authorization server without consenting. */
  onDenied(listener: (denial: DeniedGrant) => void): void;
}

interface AccessTokenOptions {
  db: Db;
  audit: Audit;
  clients: ClientStore;
  grants: GrantStore;
  authorizations: AuthorizationStore;
  requests: IssuerRequests;
  /** Registers a discovered client again if its callback has another address now. */
  currentRegistration(row: ClientRow, redirectUri: string): Promise<ClientRow>;
  /** True if users may be sent to this address. */
  mayReturn(scope: Scope, url: string): boolean;
  redirectUri: () => string;
  openRequests: Pick<OpenRequests, "isClosed" | "track">;
  revocations: Pick<Revocations, "add" | "wake">;
  now: () => number;
}

/** The answer of a server that is not asked again before its time. */
interface Pause {
  until: number;
  /** The client and the grant that it is about: once one of them has changed, the server is asked. */
  of: string;
  answer: AccessToken;
}

/** Before a token expires, it is refreshed: a request that carries it takes a while. */
const early_ms = 60_000;
/** A server that refused is not asked again at once by the calls of many runs. */
const pause_ms = { retryable: 3000, final: 30_000 };
const pauses_max = 10_000;

/** Creates the tokens of OAuth clients. */
export function createAccessTokens(options: AccessTokenOptions) {
  const { db, audit, clients, grants, authorizations, requests, openRequests, now } = options;
  const flights = new Map<string, Promise<AccessToken>>();
  const pauses = new Map<string, Pause>();
  const granted = createEventEmitter<[NewGrant]>();
  const denied = createEventEmitter<[DeniedGrant]>();

  function get(
    scope: Scope,
    id: string,
    userId: string | null,
    rejected?: string,
    missing: readonly string[] = [],
  ): Promise<AccessToken> {
    const client = clients.row(scope, id);
    if (!client) return Promise.resolve(noClient);
    if (client.per_user && userId === null) return Promise.resolve(noUser(client));
    const holder = holderOf(client, userId);
    const key = keyOf(scope, id, holder);
    const flight = flights.get(key);
    if (flight) return flight;
    const grant = grants.of(scope, { oauth_client_id: id, user_id: holder });
    const tokens = grant && grants.tokensOf(grant);
    if (grant && tokens && missing.length === 0 && isUsable(grant, tokens, rejected, now()))
      return ready(grant, tokens);
    const pause = pauses.get(key);
    if (pause && pause.until > now() && pause.of === versionOf(client, grant)) return Promise.resolve(pause.answer);
    // One for all who ask: an issuer that rotates refresh tokens takes the second use for a theft. The leader of a cell
    // is the only process that writes, so there is no other one that could refresh.
    const started = renew({ scope, client, holder, grant, tokens, rejected, missing, key }).finally(() => {
      if (flights.get(key) === started) flights.delete(key);
    });
    flights.set(key, started);
    return started;
  }

  interface Renewal {
    scope: Scope;
    client: ClientRow;
    holder: string | null;
    grant: GrantRow | null;
    tokens: StoredTokens | null;
    rejected: string | undefined;
    missing: readonly string[];
    key: string;
  }

  /** Gets a token that is usable now, or the reason why there is none. */
  async function renew(order: Renewal): Promise<AccessToken> {
    const { scope, client, grant, tokens, rejected, missing, holder } = order;
    if (
      missing.length === 0 &&
      grant &&
      tokens?.access_token === rejected &&
      isNew(grant.refreshed_at_ms ?? grant.created_at_ms, now())
    )
      return rejectedNew(client);
    const isOwn = client.grant === "client_credentials";
    if (isOwn && missing.length > 0) return refusedScopes(client, missing);
    if (isOwn) return request(order, () => requests.clientCredentials(scope.environment, clients.issuerClient(client)));
    if (!grant || !tokens) return required(client, holder);
    if (missing.length > 0) {
      // To consent again would change nothing.
      if (missing.every((scope) => grant.scopes.includes(scope))) return refusedScopes(client, missing);
      const error = { code: "insufficient_scope", message: `A server missed the scopes ${missing.join(" ")}.` };
      await db.write(() => void (grants.isUnchanged(grant) && grants.fail(grant, error, missing)));
      return required(client, holder);
    }
    const { refresh_token } = tokens;
    if (refresh_token !== null)
      return request(order, () => requests.refresh(scope.environment, clients.issuerClient(client), refresh_token));
    // A token without an end may be revoked; the user has to consent again.
    if (tokens.access_token === rejected) {
      const error = { code: "token_rejected", message: "A server refused the token, and nothing can refresh it." };
      await db.write(() => void (grants.isUnchanged(grant) && grants.fail(grant, error)));
    }
    return required(client, holder);
  }

  /** Requests tokens and stores them before anyone uses them. */
  async function request(order: Renewal, ask: () => Promise<TokenSet>): Promise<AccessToken> {
    const { scope } = order;
    return openRequests.isClosed(scope.project_id)
      ? unavailable
      : openRequests.track(scope.project_id, issue(order, ask));
  }

  async function issue(order: Renewal, ask: () => Promise<TokenSet>): Promise<AccessToken> {
    const { key } = order;
    let fresh: TokenSet;
    try {
      fresh = await ask();
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      return refused(order, error);
    }
    pauses.delete(key);
    const stored = await db.write(() => store(order, fresh));
    // The client or the grant was deleted or replaced meanwhile, so these tokens belong to nobody.
    if (!stored) {
      options.revocations.wake();
      return again(order);
    }
    return { status: "ready", token: fresh.access_token, expiresAt: stored.expires_at_ms };
  }

  /** Starts anew with what is stored now, outside of the flight that found it changed. */
  function again({ scope, client, holder, key }: Renewal): Promise<AccessToken> {
    flights.delete(key);
    return get(scope, client.id, holder);
  }

  /** Stores new tokens; if what they are for has changed, has them revoked and returns null. Call inside a write. */
  function store({ scope, client, holder, grant }: Renewal, fresh: TokenSet): GrantRow | null {
    const key = { oauth_client_id: client.id, user_id: holder };
    if (isSame(scope, client)) {
      const isOwn = client.grant === "client_credentials";
      if (grant && grants.isUnchanged(grant))
        return grants.refresh(grant, fresh, isOwn || fresh.refresh_token !== null || grant.is_refreshable);
      const current = grants.of(scope, key);
      // Revoking these tokens could end a newer consent; see `insert`.
      if (current) return null;
      if (!grant)
        return grants.insert(scope, key, fresh, definitionOf(client).scopes, isOwn || fresh.refresh_token !== null);
    }
    options.revocations.add(scope, clients.issuerClient(client), fresh);
    return null;
  }

  /** True if the client still is the one that was read. */
  function isSame(scope: Scope, client: ClientRow): boolean {
    const current = clients.row(scope, client.id);
    const isForUsers = client.grant === "authorization_code";
    return current !== null && !losesGrants(definitionOf(client), definitionOf(current), isForUsers);
  }

  async function refused(order: Renewal, failure: OAuthFailure): Promise<AccessToken> {
    const { scope, client, holder, grant, tokens, rejected, key } = order;
    const { code, message, retryable } = failure;
    // The server was asked about something that is over: neither its answer nor the former token counts any more.
    if (!isSame(scope, client) || (grant && !grants.isUnchanged(grant))) return again(order);
    if (code === "grant_refused" && client.grant === "authorization_code") {
      const failed = await db.write(() => {
        if (!grant || !grants.isUnchanged(grant)) return false;
        grants.fail(grant, { code, message });
        return true;
      });
      return failed ? required(client, holder) : again(order);
    }
    const isCurrent = grant?.status === "active" && (grant.expires_at_ms === null || grant.expires_at_ms > now());
    const answer: AccessToken =
      tokens && grant && isCurrent && tokens.access_token !== rejected
        ? { status: "ready", token: tokens.access_token, expiresAt: grant.expires_at_ms }
        : { status: "failed", code: `oauth_${code}`, message: `${client.name}: ${message}`, retryable };
    if (pauses.size >= pauses_max) pauses.clear();
    pauses.set(key, {
      until: now() + (retryable ? pause_ms.retryable : pause_ms.final),
      of: versionOf(client, grant),
      answer,
    });
    return answer;
  }

  async function authorize(
    scope: Scope,
    id: string,
    { userId, runId, returnUrl }: { userId: string | null; runId?: string; returnUrl?: string },
  ): Promise<ConsentRequest> {
    const found = clients.find(scope, id);
    if (found.grant !== "authorization_code")
      throw new AppError("validation_failed", "This client gets its tokens for itself: no user has to consent.");
    if (found.per_user && userId === null)
      throw invalid("user_id", "The client is per user: name the user who is to consent.", "required");
    if (returnUrl !== undefined && !options.mayReturn(scope, returnUrl))
      throw new AppError("origin_not_allowed", "The project does not list the origin of this address.", {
        param: "return_url",
      });
    const redirect_uri = options.redirectUri();
    const holder = holderOf(found, userId);
    const attempt = async () => {
      const client = await options.currentRegistration(found, redirect_uri);
      const wanted = grants.of(scope, { oauth_client_id: id, user_id: holder })?.wanted_scopes ?? [];
      const scopes = [...new Set([...definitionOf(client).scopes, ...wanted])];
      const order = { verifier: randomToken(), redirect_uri, scopes, definition: definitionOf(client) };
      const state = authorizations.newState(scope);
      const issuerClient = clients.issuerClient(client);
      // The address is created again when the user goes there. What is wrong with it is said now.
      await requests.authorizationUrl(scope.environment, issuerClient, { ...order, state });
      return { order, state };
    };
    const { order, state } = await attempt().catch(throwAppError);
    const expiresAt = await db.write(() => {
      clients.find(scope, id); // It may have been deleted meanwhile.
      const key = { oauth_client_id: id, user_id: holder, run_id: runId ?? null, return_url: returnUrl ?? null };
      return authorizations.insert(scope, state, key, order);
    });
    return { state, expiresAt };
  }

  function requested(state: string): RequestedConsent | null {
    const attempt = authorizations.find(state);
    if (!attempt) return null;
    const { project_id, environment, oauth_client_id, user_id } = attempt;
    return { scope: { project_id, environment }, oauthClientId: oauth_client_id, userId: user_id };
  }

  async function shown(scope: Scope, id: string): Promise<{ name: string; host: string } | null> {
    const client = clients.row(scope, id);
    if (!client) return null;
    const host = await requests.consentHost(scope.environment, clients.issuerClient(client)).catch(throwAppError);
    return { name: client.name, host };
  }

  async function send(state: string, browser: string): Promise<string | null> {
    const attempt = await db.write(() => authorizations.bind(state, browser));
    if (!attempt) return null;
    const client = clients.row(attempt, attempt.oauth_client_id);
    if (!client || losesGrants(attempt.definition, definitionOf(client), true)) return null;
    return requests
      .authorizationUrl(attempt.environment, clients.issuerClient(client), { ...attempt, state })
      .catch(throwAppError);
  }

  /** Ends an authorization with what the user's browser brought back. `browser` is its cookie; null if it has none. */
  async function complete(query: URLSearchParams, browser: string | null): Promise<CallbackOutcome> {
    const state = query.get("state") ?? "";
    const pending = authorizations.find(state);
    if (!pending) return stale;
    // The code stays good for the process that serves next.
    if (openRequests.isClosed(pending.project_id)) return stopping;
    return openRequests.track(pending.project_id, redeem(query, state, browser));
  }

  async function redeem(query: URLSearchParams, state: string, browser: string | null): Promise<CallbackOutcome> {
    // Taken before the exchange: a code that came twice, or in two windows at once, is used once.
    const attempt = browser === null ? null : await db.write(() => authorizations.take(state, browser));
    // Without its cookie it is the browser of another person: the request stays for the one that it is of.
    if (!attempt) return authorizations.find(state) ? otherBrowser : stale;
    const outcome = await exchange(attempt, query, state);
    if (!outcome.granted) await db.write(() => authorizations.end(state));
    return outcome;
  }

  async function exchange(
    attempt: NonNullable<ReturnType<AuthorizationStore["take"]>>,
    query: URLSearchParams,
    state: string,
  ): Promise<CallbackOutcome> {
    const { oauth_client_id: id, user_id } = attempt;
    const scope: Scope = { project_id: attempt.project_id, environment: attempt.environment };
    // The project may have taken the origin off its list meanwhile.
    const returnUrl =
      attempt.return_url !== null && options.mayReturn(scope, attempt.return_url) ? attempt.return_url : null;
    const client = clients.row(scope, id);
    if (!client) return stale;
    const failed = ({ code, message }: { code: string; message: string }): CallbackOutcome => ({
      granted: false,
      code,
      message,
      clientName: client.name,
      returnUrl,
    });
    // The code is of the server to which the user was sent, and must not reach another one.
    if (losesGrants(attempt.definition, definitionOf(client), true)) return failed(changed);
    let fresh: TokenSet;
    try {
      fresh = await requests.exchange(scope.environment, clients.issuerClient(client), query, { ...attempt, state });
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      // After any other failure the user may try again.
      if (error.code === "access_denied")
        denied.tell({ scope, oauthClientId: id, runId: attempt.run_id, reason: error.message });
      return failed(error);
    }
    const isStored = await db.write(() => {
      // The user or the project may have been erased since the request was taken.
      if (!authorizations.end(state) || !isSame(scope, client)) {
        options.revocations.add(scope, clients.issuerClient(client), fresh);
        return false;
      }
      const row = grants.insert(scope, { oauth_client_id: id, user_id }, fresh, attempt.scopes);
      audit.note({ ...scope, actor: itself }, "oauth_grant.created", row.id, { oauth_client_id: id });
      return true;
    });
    options.revocations.wake();
    pauses.delete(keyOf(scope, id, user_id));
    if (!isStored) return failed(changed);
    granted.tell({ scope, oauthClientId: id, userId: user_id });
    return { granted: true, clientName: client.name, returnUrl };
  }

  const accessTokens: AccessTokens = {
    get,
    authorize,
    requested,
    shown,
    send,
    onGranted: granted.listen,
    onDenied: denied.listen,
  };
  return { ...accessTokens, complete };
}

const keyOf = ({ project_id, environment }: Scope, id: string, holder: string | null): string =>
  JSON.stringify([project_id, environment, id, holder]);

/** Both are sealed anew with each change. */
const versionOf = (client: ClientRow, grant: GrantRow | null): string => `${client.sealed} ${grant?.sealed ?? ""}`;

const ready = async (grant: GrantRow, { access_token }: StoredTokens): Promise<AccessToken> => ({
  status: "ready",
  token: access_token,
  expiresAt: grant.expires_at_ms,
});

/** True for a token that nobody refused, with enough time left, or whatever is left if nothing can refresh it. */
function isUsable(
  { status, is_refreshable, expires_at_ms }: Pick<GrantRow, "status" | "is_refreshable" | "expires_at_ms">,
  { access_token, lifetime_seconds }: StoredTokens,
  rejected: string | undefined,
  at: number,
): boolean {
  if (status !== "active" || access_token === rejected) return false;
  if (expires_at_ms === null) return true;
  // Of a token that lasts a minute, most is used.
  const early = is_refreshable ? Math.min(early_ms, ((lifetime_seconds ?? 600) * 1000) / 10) : 0;
  return expires_at_ms - early > at;
}

const rejectedNew = ({ name }: ClientRow): AccessToken => ({
  status: "failed",
  code: "oauth_token_rejected",
  message: `${name}: a server refused the token although it was just issued.`,
  retryable: false,
});

const noClient: AccessToken = {
  status: "failed",
  code: "oauth_client_not_found",
  message: "The OAuth client does not exist.",
  retryable: false,
};

const unavailable: AccessToken = {
  status: "failed",
  code: "oauth_issuer_unreachable",
  message: "The server stops, or the project is being moved to another cell.",
  retryable: true,
};

const noUser = ({ name }: ClientRow): AccessToken => ({
  status: "failed",
  code: "user_id_required",
  message: `${name} acts for a user, and the run has no user_id.`,
  retryable: false,
});

const required = ({ id, name }: ClientRow, userId: string | null): AccessToken => ({
  status: "authorization_required",
  oauthClientId: id,
  oauthClientName: name,
  userId,
});

const refusedScopes = ({ name }: ClientRow, missing: readonly string[]): AccessToken => ({
  status: "failed",
  code: "oauth_insufficient_scope",
  message: `${name}: a server missed the scopes ${missing.join(" ")} in the client's token.`,
  retryable: false,
});

const changed = { code: "client_changed", message: "The connection was changed meanwhile." };

function throwAppError(error: unknown): never {
  throw error instanceof OAuthFailure ? toAppError(error) : error;
}

/** Turns a failure into the answer to a request. */
export const toAppError = ({ code, message, retryable }: OAuthFailure): AppError =>
  code === "url_not_allowed"
    ? new AppError("url_not_allowed", message)
    : new AppError("oauth_server_failed", message, { ...(retryable && { retryAfter: 10 }) });
