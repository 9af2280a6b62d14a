import type { Environment, Scope } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import type { IssuerAccess } from "../../runtime/oauth/fetch-json.ts";
import { createIssuerRequests } from "../../runtime/oauth/issuer-client.ts";
import { createIssuerMetadata } from "../../runtime/oauth/issuer-metadata.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { ConnectionsModule } from "../model-connections/module.ts";
import type { ProjectsModule } from "../projects/module.ts";
import { createAccessTokens } from "./access-tokens.ts";
import { createAuthorizationStore } from "./authorization-store.ts";
import { browserCookie } from "./browser-cookie.ts";
import { createClientStore } from "./client-store.ts";
import { createGrantStore, type GrantStore } from "./grant-store.ts";
import { createMcpClients } from "./mcp-clients.ts";
import { createOpenRequests } from "./open-requests.ts";
import { createRevocations } from "./revocations.ts";
import { oauthCallbackRoute, oauthClientRoutes, oauthGrantRoutes } from "./routes.ts";
import { createOAuthSecrets } from "./secrets.ts";

export type OAuthModule = ReturnType<typeof createOAuthModule>;

interface Needs {
  base: Base;
  projects: ProjectsModule;
  connections: Pick<ConnectionsModule, "consents">;
  /** True in a cluster: a state contains the project. */
  naming: boolean;
}

const grantsPerWrite = 50;
/** How long a stop waits for the answers of issuers: less than it waits for all modules, so that failures are stored. */
const lastAnswer_ms = 7000;

/** OAuth clients of tools, and their tokens. */
export function createOAuthModule({ base, projects, connections, naming }: Needs) {
  const { db, log, now, publicUrl, closing } = base;
  const secrets = createOAuthSecrets(base.seal);
  const accessUntil =
    (signal: AbortSignal) =>
    (environment: Environment): IssuerAccess => ({
      egress: base.egress(environment),
      httpsOnly: environment === "live",
      signal,
    });
  const accessOf = accessUntil(closing);
  const browsers = browserCookie(publicUrl);
  const redirectUri = () => `${publicUrl()}/oauth/callback`;
  const consentUrl = (state: string) => `${publicUrl()}/oauth/consent/${state}`;
  const metadataOf = createIssuerMetadata({ now });
  const requests = createIssuerRequests({ accessOf, metadataOf });
  // The answer of an issuer that rotates, or took a code, is awaited while the server stops.
  const late = new AbortController();
  const { refresh, exchange } = createIssuerRequests({ accessOf: accessUntil(late.signal), metadataOf });
  const revocations = createRevocations({ db, secrets, requests, log, now });
  const grants: GrantStore = createGrantStore({
    ...base,
    secrets,
    revocations,
    clientOf: (scope, id) => clients.issuerClient(clients.find(scope, id)),
  });
  const clients = createClientStore({ ...base, secrets, grants, onRevoked: revocations.wake });
  const authorizations = createAuthorizationStore({ db, secrets, naming, now });
  const mcp = createMcpClients({ db, clients, accessOf, metadataOf, redirectUri });

  const openRequests = createOpenRequests({ closing });
  const tokens = createAccessTokens({
    ...base,
    openRequests,
    clients,
    grants,
    authorizations,
    requests: { ...requests, refresh, exchange },
    revocations,
    redirectUri,
    currentRegistration: mcp.currentRegistration,
    mayReturn({ project_id }, url) {
      const { origins = [] } = projects.store.settingsOf(project_id);
      const { protocol = "", origin = "" } = URL.parse(url) ?? {};
      return /^https?:$/.test(protocol) && [new URL(publicUrl()).origin, ...origins].includes(origin);
    },
  });

  return {
    routes: (auth) => {
      const options = { auth, clients, grants, tokens, consentUrl, removeGrant };
      return [oauthClientRoutes(options), oauthGrantRoutes(options)];
    },
    /** The public address of the callback, which needs no key. */
    plugin: oauthCallbackRoute({
      complete: async (query, browser) =>
        (await connections.consents.complete(query, browser)) ?? (await tokens.complete(query, browser)),
      browsers,
      log,
    }),
    browsers,
    accessTokens: tokens,
    openRequests,
    mcp,
    hasClient: (scope: Scope, id: string): boolean => clients.row(scope, id) !== null,
    isPerUser: (scope: Scope, id: string): boolean => clients.row(scope, id)?.per_user ?? false,
    deleteExpired: [authorizations.forgetExpired],
    /** Erases some of a user's grants and returns how many. Call inside a write, then `revocations.wake` after it. */
    eraseOfUser(scope: Scope, userId: string): number {
      authorizations.eraseOfUser(scope, userId);
      return grants.eraseOfUser(scope, userId, grantsPerWrite);
    },
    wakeRevocations: revocations.wake,
    /** Revokes the tokens of a project that is about to be erased, with one attempt each. */
    async leaveProject(projectId: string): Promise<void> {
      while ((await db.write(() => grants.eraseOfProject(projectId, grantsPerWrite))) > 0)
        await revocations.ofProject(projectId);
      await revocations.ofProject(projectId);
    },
    grants,
    revocations,
    start: revocations.wake,
    onProjectArrived: revocations.wake,
    async stop(): Promise<void> {
      const timer = setTimeout(() => late.abort(), lastAnswer_ms);
      await Promise.all([revocations.stop(), openRequests.stop()]).finally(() => clearTimeout(timer));
    },
  } satisfies Module;

  async function removeGrant(author: Author, id: string) {
    const deleted = await db.write(() => grants.remove(author, id));
    revocations.wake();
    return deleted;
  }
}
