import type { Budget } from "../core/budget-schema.ts";
import type { ChatLimits } from "../core/chat-page.ts";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { ifThere } from "../core/not-found.ts";
import { type ClientScope, clientScopes, type Environment, type Scope } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import { mayUse, type Viewer } from "../http/auth.ts";
import { invalid } from "../http/errors.ts";
import type { Bounds, ClientLimits, ClientToken, Identity, Principal, Share } from "../http/principal.ts";
import type { Seal } from "../lib/seal.ts";
import type { CreateClientToken } from "./schema.ts";
import type { KeyStore } from "./store.ts";

/** What a token is bound to, as others know it. Throws, as for every id in a body, for what the viewer does not see. */
export interface Bound {
  hasAgent(viewer: Viewer, id: string): boolean;
  /** Whom a thread is for. */
  threadOwner(viewer: Viewer, id: string): { user_id: string | null };
  run(viewer: Viewer, id: string): { agent_id: string };
}

/** What is sealed in a token. It says nothing that its key could not do, and the key is asked at every request. */
interface Sealed extends Bounds {
  id: string;
  key_id: string;
  agent_id: string;
  scopes: ClientScope[];
  limits: ClientLimits;
  budget: Budget | null;
  expires_at_ms: number;
  is_visitor?: true;
}

/** A chat page, as those who got their tokens there act by it. */
export interface TokenPage extends Scope {
  id: string;
  agent_id: string;
  limits: ChatLimits;
  visitor_limits: ChatLimits;
  budget: Budget | null;
  files?: boolean;
  project_limits: Identity["limits"];
  runsBefore: Share["runsBefore"];
}

interface PageVisitor {
  user_id: string;
  /** Whether they see nothing of how the project works, and decide nothing. */
  is_visitor: boolean;
}

interface ClientTokenOptions {
  keys: Pick<KeyStore, "authenticateFor" | "get">;
  /** The chat page of this id, while it is open. */
  pageOf(id: string): TokenPage | null;
  seal: Seal;
  bound: Bound;
  now: () => number;
}

export type ClientTokens = ReturnType<typeof createClientTokens>;

const form = /^ct_(test|live)_([\w-]{40,2000})$/;

/** Whether a secret is meant as a client token. */
export const isClientToken = (secret: string): boolean => form.test(secret);

/** Tokens for browsers, sealed and not stored: whoever has one has nothing once its key is revoked. */
export function createClientTokens({ keys, pageOf, seal, bound, now }: ClientTokenOptions) {
  /** Makes a token. Throws 403 for more than the key may, and 400 for what it does not see. */
  function create(principal: Principal, input: CreateClientToken) {
    if (principal.kind !== "key") throw new AppError("insufficient_scope", "Client tokens are made with API keys.");
    requireScopes(principal, input.scopes);
    const id = newId("client_token", now());
    const bounds = boundsOf(principal, id, input);
    const keyEnd = keys.get(principal, principal.id).expires_at;
    const end = Math.min(
      now() + input.expires_in * 1000,
      keyEnd === null ? Number.POSITIVE_INFINITY : Date.parse(keyEnd),
    );
    const sealed: Sealed = {
      id,
      key_id: principal.id,
      agent_id: input.agent_id,
      ...bounds,
      scopes: clientScopes.filter((scope) => input.scopes.includes(scope)),
      limits: { ...defaultClientLimits, ...input.limits },
      budget: input.budget ?? null,
      expires_at_ms: end,
    };
    const { key_id, expires_at_ms, ...shown } = sealed;
    return { object: "client_token" as const, ...shown, ...secretOf(principal, sealed) };
  }

  /** Makes a token for somebody on a chat page: for a while, since the page makes the next one. */
  function createForPage(page: TokenPage, { user_id, is_visitor }: PageVisitor) {
    return secretOf(page, {
      id: newId("client_token", now()),
      key_id: page.id,
      agent_id: page.agent_id,
      run_id: null,
      thread_id: null,
      user_id,
      budget: page.budget,
      limits: defaultClientLimits,
      scopes: clientScopes.filter((scope) => (scope === "submit" ? !is_visitor : scope !== "upload" || page.files)),
      expires_at_ms: now() + pageToken_ms,
      ...(is_visitor && { is_visitor }),
    });
  }

  const secretOf = ({ environment }: Scope, sealed: Sealed) => ({
    token: `ct_${environment}_${seal.seal(JSON.stringify(sealed), contextOf(environment)).slice(3)}`,
    expires_at: timestamp(sealed.expires_at_ms),
  });

  /** Binds a token to one run, thread or user; without any, to a user named by the token's id. */
  function boundsOf(
    principal: Principal,
    own: string,
    { agent_id, run_id, thread_id, user_id }: CreateClientToken,
  ): Bounds {
    if ([run_id, thread_id, user_id].filter((one) => one !== undefined).length > 1)
      throw invalid("agent_id", "Give at most one of run_id, thread_id and user_id.");
    if (!bound.hasAgent(principal, agent_id)) throw invalid("agent_id", "There is no such agent.");
    if (run_id !== undefined) {
      if (ifThere(() => bound.run(principal, run_id))?.agent_id !== agent_id)
        throw invalid("run_id", "There is no such run of the agent.");
      return { run_id, thread_id: null, user_id: null };
    }
    if (thread_id !== undefined)
      return { run_id: null, thread_id, user_id: bound.threadOwner(principal, thread_id).user_id };
    return { run_id: null, thread_id: null, user_id: user_id ?? own };
  }

  /** Who acts with this token; null for what is no token, or whose key no longer admits. Throws once it has expired. */
  function authenticate(secret: string, ip: string | null): Identity | null {
    const sealed = openToken(secret, seal);
    const page = sealed && pageOf(sealed.key_id);
    const maker = page ? identityOf(page) : sealed && keys.authenticateFor(sealed.key_id, ip);
    if (!sealed || !maker || !mayUse(maker, sealed.agent_id)) return null;
    const { is_visitor = false, limits, ...rest } = sealed;
    const shares = page ? sharesOf(page, sealed) : [{ of: "token" as const, name: sealed.id, limits }];
    const person = page && !is_visitor ? personIn(sealed) : undefined;
    const scopes = new Set(sealed.scopes);
    const token: ClientToken = { ...rest, is_visitor, person, page: page?.agent_id, shares, scopes };
    const end = expired(token);
    if (end) throw end;
    return { ...maker, scopes: none, agent_ids: [sealed.agent_id], token };
  }

  /** Why a token is accepted no longer; null while it is. */
  const expired = ({ expires_at_ms }: Pick<ClientToken, "expires_at_ms">): AppError | null =>
    expires_at_ms > now() ? null : new AppError("client_token_expired", "The time of this client token is over.");

  return { create, createForPage, authenticate, expired };
}

function openToken(secret: string, seal: Seal): Sealed | null {
  const [, environment, body] = form.exec(secret) ?? [];
  if (!body) return null;
  try {
    return JSON.parse(seal.open(`v1.${body}`, contextOf(environment as Environment)));
  } catch {
    return null; // Whoever made it did not do so here.
  }
}

/** The id of the key or the chat page that a token was made by, whether or not it is still good; null for no token. */
export const clientTokenMaker = (secret: string, seal: Seal): string | null => openToken(secret, seal)?.key_id ?? null;

const pageToken_ms = 15 * 60_000;

/** Who a page is: a key that may do nothing but what its tokens say. */
const identityOf = ({ id, project_id, environment, agent_id, project_limits }: TokenPage): Identity => ({
  kind: "key",
  id,
  project_id,
  environment,
  scopes: none,
  agent_ids: [agent_id],
  limits: project_limits,
});

/** By whom a request is counted: by the person, also when they take another token, and by the page, whatever its link. */
const sharesOf = (
  { agent_id, limits, visitor_limits, runsBefore }: TokenPage,
  { user_id }: Pick<Sealed, "user_id">,
): Share[] => [
  { of: "visitor", name: `${agent_id}/${user_id}`, limits: shareOf(visitor_limits, 120) },
  { of: "page", name: agent_id, limits: shareOf(limits, 6000), runsBefore },
];

/** On a page for members, a person is a user of each agent: `usr_…/agt_…`. */
const personIn = ({ user_id, agent_id }: Sealed): string | undefined => user_id?.slice(0, -`/${agent_id}`.length);

const shareOf = ({ runs_per_minute, runs_per_day }: ChatLimits, requests_per_minute: number): Share["limits"] => ({
  requests_per_minute,
  run_creations_per_minute: runs_per_minute,
  runs_per_day,
});

/** What a token may do unless it says otherwise: enough for a person who chats. */
const defaultClientLimits: ClientLimits = { requests_per_minute: 120, run_creations_per_minute: 20 };

const none: ReadonlySet<never> = new Set();

const contextOf = (environment: Environment): string => `client_token/${environment}`;

/** Throws for a scope beyond the key's own; reading takes `read` or `run`. */
function requireScopes({ scopes: own }: Principal, scopes: readonly ClientScope[]): void {
  for (const scope of scopes) {
    if (own.has("admin") || own.has("run") || (scope === "read" && own.has("read"))) continue;
    throw new AppError("insufficient_scope", `A key without the scope "run" makes no token that has "${scope}".`, {
      param: "scopes",
      details: { required_scope: "run" },
    });
  }
}
