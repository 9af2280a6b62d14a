import type { AgentChoice } from "../../domain/agent-label.ts";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { Budget } from "../../domain/budget-schema.ts";
import type { ChatLimits } from "../../domain/chat-page.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { orNull } from "../../domain/not-found.ts";
import { type ClientScope, clientScopes, type Environment, type Scope } from "../../domain/scope.ts";
import { teamValueIssues } from "../../domain/team-variables.ts";
import { timestamp } from "../../domain/time.ts";
import { mayUse, type Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import type { Bounds, ClientLimits, ClientToken, Identity, Principal, Share } from "../../http/principal.ts";
import type { Seal } from "../../lib/seal.ts";
import type { CreateClientToken } from "./schema.ts";
import type { KeyStore } from "./store.ts";

/** Looks up what a token is bound to. Throws for ids that the viewer does not see. */
export interface Bound {
  /** Returns the agent and the version that a request names. */
  agent(viewer: Viewer, reference: { agent_id: string; version: number | null; label: string | null }): AgentChoice;
  /** User that the thread is for. */
  threadOwner(viewer: Viewer, id: string): { user_id: string | null };
  run(viewer: Viewer, id: string): { agent_id: string };
  /** The agent as a run would pin it. */
  snapshot(viewer: Viewer, choice: AgentChoice): AgentSnapshot;
}

/** Sealed content of a token. It grants nothing beyond its key, which is checked at every request. */
interface Sealed extends Bounds {
  id: string;
  key_id: string;
  agent_id: string;
  /** The agent's version, or the label that chooses it. Absent: the newest. */
  version?: number;
  label?: string;
  scopes: ClientScope[];
  limits: ClientLimits;
  budget: Budget | null;
  expires_at_ms: number;
  is_visitor?: true;
}

/** A chat page whose tokens act on its behalf. */
export interface TokenPage extends Scope {
  id: string;
  agent_id: string;
  limits: ChatLimits;
  visitor_limits: ChatLimits;
  budget: Budget | null;
  files?: boolean;
  label?: string | null;
  project_limits: Identity["limits"];
  runsBefore: Share["runsBefore"];
}

interface PageVisitor {
  user_id: string;
  /** True if they see nothing of the project's internals and approve nothing. */
  is_visitor: boolean;
}

interface ClientTokenOptions {
  keys: KeyStore;
  /** Returns the chat page while it is open. */
  pageOf(id: string): TokenPage | null;
  seal: Seal;
  bound: Bound;
  now: () => number;
}

export type ClientTokens = ReturnType<typeof createClientTokens>;

const form = /^ct_(test|live)_([\w-]{40,6000})$/;

/** True if the secret has the form of a client token. */
export const isClientToken = (secret: string): boolean => form.test(secret);

/** Creates sealed tokens for browsers. They are not stored, and end when their key is revoked. */
export function createClientTokens({ keys, pageOf, seal, bound, now }: ClientTokenOptions) {
  /** Creates a token. Throws 403 for rights beyond the key's own, and 400 for ids that the key does not see. */
  function create(principal: Principal, input: CreateClientToken) {
    if (principal.kind !== "key") throw new AppError("insufficient_scope", "Client tokens are made with API keys.");
    requireScopes(principal, input.scopes);
    const id = newId("client_token", now());
    const { version: givenVersion = null, label: givenLabel = null } = input;
    const { agent_id, version, label } = bound.agent(principal, {
      agent_id: input.agent_id,
      version: givenVersion,
      label: givenLabel,
    });
    const bounds = boundsOf(principal, id, { ...input, agent_id });
    const keyEnd = keys.get(principal, principal.id).expires_at;
    const end = Math.min(
      now() + input.expires_in_seconds * 1000,
      keyEnd === null ? Number.POSITIVE_INFINITY : Date.parse(keyEnd),
    );
    const sealed: Sealed = {
      id,
      key_id: principal.id,
      agent_id,
      ...(version !== null && { version }),
      ...(label !== null && { label }),
      ...bounds,
      ...variablesOf(principal, { agent_id, version, label }, input.variables),
      scopes: clientScopes.filter((scope) => input.scopes.includes(scope)),
      limits: { ...defaultClientLimits, ...input.limits },
      budget: input.budget ?? null,
      expires_at_ms: end,
    };
    const { key_id, expires_at_ms, ...shown } = sealed;
    return { object: "client_token" as const, ...shown, version, label, ...secretOf(principal, sealed) };
  }

  /** Creates a short-lived token for a chat page's visitor; the page renews it. */
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

  /** Binds a token to a run, thread or user; by default to a user named by the token's id. */
  function boundsOf(
    principal: Principal,
    own: string,
    { agent_id, run_id, thread_id, user_id }: CreateClientToken,
  ): Bounds {
    if ([run_id, thread_id, user_id].filter((one) => one !== undefined).length > 1)
      throw invalid("agent_id", "Give at most one of run_id, thread_id and user_id.");
    if (run_id !== undefined) {
      if (orNull(() => bound.run(principal, run_id))?.agent_id !== agent_id)
        throw invalid("run_id", noSuch("run of the agent"));
      return { run_id, thread_id: null, user_id: null };
    }
    if (thread_id !== undefined)
      return { run_id: null, thread_id, user_id: bound.threadOwner(principal, thread_id).user_id };
    return { run_id: null, thread_id: null, user_id: user_id ?? own };
  }

  function variablesOf(
    principal: Principal,
    choice: AgentChoice,
    variables: CreateClientToken["variables"],
  ): Pick<Bounds, "variables"> {
    if (variables === undefined) return {};
    const issues = teamValueIssues(bound.snapshot(principal, choice), variables);
    throwIfInvalid(issues.map(({ name, message }) => fault(`variables.${name}`, message)));
    if (Buffer.byteLength(JSON.stringify(variables)) > limits.token_variables_bytes)
      throw invalid("variables", `Must have at most ${limits.token_variables_bytes} bytes as JSON.`);
    return { variables };
  }

  /**
   * Returns the token's identity; null if it is no token, or its key is no longer valid. Throws once it has expired.
   */
  function authenticate(secret: string, ip: string | null): Identity | null {
    const sealed = openToken(secret, seal);
    const page = sealed && pageOf(sealed.key_id);
    const maker = page ? identityOf(page) : sealed && keys.authenticateFor(sealed.key_id, ip);
    if (!sealed || !maker || !mayUse(maker, sealed.agent_id)) return null;
    const { is_visitor = false, limits, ...rest } = sealed;
    const shares = page ? sharesOf(page, sealed) : [{ of: "token" as const, name: sealed.id, limits }];
    const person = page && !is_visitor ? personIn(sealed) : undefined;
    const scopes = new Set(sealed.scopes);
    const pinned = page && { label: page.label ?? null };
    const token: ClientToken = { ...rest, ...pinned, is_visitor, person, page: page?.agent_id, shares, scopes };
    const end = expired(token);
    if (end) throw end;
    return { ...maker, scopes: noScopes, agent_ids: [sealed.agent_id], token };
  }

  /** Returns the error of an expired token, or null. */
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
    return null; // Not sealed by this server.
  }
}

/** Returns the id of the key or chat page that made a token, valid or not; null if it is no token. */
export const clientTokenMaker = (secret: string, seal: Seal): string | null => openToken(secret, seal)?.key_id ?? null;

const pageToken_ms = 15 * 60_000;

/** Identity of a chat page: a key limited to what its tokens allow. */
const identityOf = ({ id, project_id, environment, agent_id, project_limits }: TokenPage): Identity => ({
  kind: "key",
  id,
  project_id,
  environment,
  scopes: noScopes,
  agent_ids: [agent_id],
  limits: project_limits,
});

/** Rate-limit shares of a request: the person, whichever token they use, and the page, whichever link it has. */
const sharesOf = (
  { agent_id, limits, visitor_limits, runsBefore }: TokenPage,
  { user_id }: Pick<Sealed, "user_id">,
): Share[] => [
  { of: "visitor", name: `${agent_id}/${user_id}`, limits: shareOf(visitor_limits, 120) },
  { of: "page", name: agent_id, limits: shareOf(limits, 6000), runsBefore },
];

/** On a page for members, a person is a separate user of each agent: `usr_…/agt_…`. */
const personIn = ({ user_id, agent_id }: Sealed): string | undefined => user_id?.slice(0, -`/${agent_id}`.length);

const shareOf = ({ runs_per_minute, runs_per_day }: ChatLimits, requests_per_minute: number): Share["limits"] => ({
  requests_per_minute,
  run_creations_per_minute: runs_per_minute,
  runs_per_day,
});

/** Default limits of a token: enough for one chatting person. */
const defaultClientLimits: ClientLimits = { requests_per_minute: 120, run_creations_per_minute: 20 };

const noScopes: ReadonlySet<never> = new Set();

const contextOf = (environment: Environment): string => `client_token/${environment}`;

/** Throws for a scope beyond the key's own. `read` requires the key's `read` or `run`. */
function requireScopes({ scopes: own }: Principal, scopes: readonly ClientScope[]): void {
  for (const scope of scopes) {
    if (own.has("admin") || own.has("run") || (scope === "read" && own.has("read"))) continue;
    throw new AppError("insufficient_scope", `A key without the scope "run" makes no token that has "${scope}".`, {
      param: "scopes",
      details: { required_scope: "run" },
    });
  }
}
