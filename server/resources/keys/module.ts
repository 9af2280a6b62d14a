import type { Exposure } from "../../domain/api-types/enums.ts";
import { isId } from "../../domain/ids.ts";
import type { Auth, NoLongerValid } from "../../http/auth.ts";
import type { HttpModule } from "../../http/create-http.ts";
import type { Base, Module } from "../../http/module.ts";
import type { AgentsModule } from "../agents/module.ts";
import type { ChatModule } from "../chat/module.ts";
import type { AgentResolver } from "../labels/module.ts";
import type { ProjectsModule } from "../projects/module.ts";
import type { ThreadsModule } from "../threads/module.ts";
import { bearer, createKeyAuthenticate } from "./authenticate.ts";
import { type Bound, createClientTokens, type TokenPage } from "./client-tokens.ts";
import { clientTokenRoutes, keyRoutes, type MeOptions, meRoutes } from "./routes.ts";
import { createKeyStore } from "./store.ts";

export interface KeyOptions {
  /** True to keep keys valid that were sent in clear text. */
  keepExposedKeys?: boolean;
}

const lastUsedEvery_ms = 60_000;

/** Log messages for keys that arrived in clear text. */
const exposureLines: Record<Exposure, string> = {
  revoked: "an API key came in clear text and was revoked",
  kept: "an API key came in clear text and was kept: rotate it",
  last_admin_key: "an API key came in clear text and was kept, because it is the last admin key: rotate it",
  local: "an API key came in clear text from this machine and was kept",
};

export type KeysModule = ReturnType<typeof createKeysModule>;

interface Needs {
  base: Base;
  options: KeyOptions;
  http: HttpModule;
  projects: ProjectsModule;
  agents: AgentsModule;
  resolver: AgentResolver;
  threads: ThreadsModule;
  /** Chat pages, which create tokens as keys do. */
  chat: ChatModule;
  /** Returns a run. Throws for one that the viewer does not see. */
  run: Bound["run"];
  runLimits: MeOptions["runs"];
}

/** API keys and client tokens. */
export function createKeysModule({
  base,
  options,
  http,
  projects,
  agents,
  resolver,
  threads,
  chat,
  run,
  runLimits,
}: Needs) {
  const { keepExposedKeys: keepLive = false } = options;
  const { limiter, clientOf, onExposed } = http;
  const pages = chat.store;
  const keys = createKeyStore(base);
  const bound: Bound = {
    agent: resolver.resolve,
    threadOwner: threads.store.ownerOf,
    run,
    // A label that splits gives the version of one of its shares: the run is what checks the values for its own.
    snapshot: (viewer, choice) =>
      agents.store.snapshot(viewer, choice.agent_id, {}, resolver.choose(viewer, choice, "").version),
  };
  const pageOf = (id: string): TokenPage | null => (isId("chat_page", id) ? pages.open(id) : null);
  const tokens = createClientTokens({ keys, pageOf, seal: base.seal, bound, now: base.now });
  let lastUsed: Timer | undefined;

  function writeLastUsed(): void {
    keys.writeLastUsed().catch((error) => base.log.error("last use of keys was not written", { error }));
  }

  onExposed((authorization, sender) => {
    const secret = bearer(authorization);
    if (secret === null) return;
    keys
      .expose(secret, { ...sender, keepLive })
      .then((exposed) => exposed && base.log.warn(exposureLines[exposed.exposure], { ...exposed, client: sender.ip }))
      .catch((error) => base.log.error("an exposed key could not be marked", { error }));
  });

  return {
    routes: (auth) => [keyRoutes({ auth, keys })],
    store: keys,
    authenticate: createKeyAuthenticate({ keys, tokens, limiter, clientOf }),
    noLongerValid: (({ id, token }) =>
      (isId("chat_page", id) ? pages.noLongerOpen(id) : keys.noLongerValid(id)) ??
      (token ? tokens.expired(token) : null)) satisfies NoLongerValid,
    tokenForPage: tokens.createForPage,
    /** With API keys only: a token ends with its key, and dashboard users have none. */
    clientTokens: { routes: (auth: Auth) => [clientTokenRoutes({ auth, tokens })] },
    /** `GET /v1/me`. */
    me: { routes: (auth: Auth) => [meRoutes({ auth, keys, limiter, projects: projects.store, runs: runLimits })] },
    start(): void {
      lastUsed = setInterval(writeLastUsed, lastUsedEvery_ms).unref();
    },
    stop: () => clearInterval(lastUsed),
    recordShutdown: keys.writeLastUsed,
  } satisfies Module;
}
