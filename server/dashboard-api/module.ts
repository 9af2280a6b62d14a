import { Elysia } from "elysia";
import type { ClusterInfo } from "../domain/api-types/console.ts";
import type { OnRefused } from "../http/auth.ts";
import type { createHttpModule } from "../http/create-http.ts";
import type { Base, Module } from "../http/module.ts";
import { createMailer, type MailSettings } from "../lib/mailer.ts";
import type { PriceStore } from "../resources/model-connections/prices.ts";
import type { ConnectionStore } from "../resources/model-connections/store.ts";
import { tryConnection } from "../resources/model-connections/try-connection.ts";
import type { ProjectStore } from "../resources/projects/store.ts";
import type { RunSubscriptions } from "../runs/stream/run-subscriptions.ts";
import type { User } from "./accounts.ts";
import { createBackups, type MakeBackup } from "./backups.ts";
import { type ClusterPort, createClusterReader } from "./cluster.ts";
import { connectionRoutes } from "./connection-routes.ts";
import { type Console, type ConsoleOptions, type ConsoleRoutes, createConsole } from "./console.ts";
import { createMails } from "./mails.ts";
import { createOidc, type OidcSettings } from "./oidc.ts";
import { createOidcPeople } from "./oidc-people.ts";
import { type OidcSignIn, oidcCallback } from "./oidc-routes.ts";
import { reaches } from "./role.ts";
import { serverRoutes } from "./server-routes.ts";
import { attemptCookie, sessionCookie } from "./session-cookie.ts";
import { createSessions } from "./sessions.ts";

export interface DashboardOptions {
  /** Absent if the server has no dashboard. */
  dashboard?: ConsoleOptions & { oidc?: OidcSettings | null; mail?: MailSettings | null };
  /** Makes the backups for download at the dashboard. */
  makeBackup?: MakeBackup;
  /** Absent on one machine. */
  clusterStatus?: ClusterPort;
  /** Returns the person of a request that another node forwarded; absent if no requests are forwarded. */
  personOf?: (request: Request) => User | null;
  /** Projects on other servers, to which requests for them are forwarded. */
  projectsElsewhere?: () => Promise<{ id: string; name: string }[]>;
}

/** Server side of the dashboard, with the routes that belong to no project. */
export function createDashboardApiModule({
  http: { limiter, idempotency, clientOf, openApi },
  connections: { connections, prices },
  projects,
  runs: { watches },
  onRefused,
  resources,
  alerts: { alerts },
  dashboard,
  clusterStatus: cluster,
  projectsElsewhere,
  makeBackup: make = () => Promise.reject(new Error("Nothing here makes backups.")),
  ...base
}: Base &
  DashboardOptions & {
    http: ReturnType<typeof createHttpModule>;
    connections: { connections: ConnectionStore; prices: PriceStore };
    projects: ProjectStore;
    runs: { watches: RunSubscriptions };
    onRefused: OnRefused;
    resources: Console["resources"];
    alerts: { alerts: NonNullable<Console["alerts"]> & { lastFailover(): ClusterInfo["failover"] } };
  }) {
  const { db, audit, dataDir, sandbox, now } = base;
  const started_at_ms = now();
  const backups = createBackups({ ...base, make, requireRoom: () => base.requireRoom(true) });
  const cell = cluster?.cell ?? null;
  const readCluster = createClusterReader({ cluster: cluster ?? null, lastFailover: alerts.lastFailover });
  const ofServer: Console["ofServer"] = (signedIn) =>
    new Elysia()
      .use(connectionRoutes({ signedIn, connections, prices, tryConnection, db, audit }))
      .use(serverRoutes({ signedIn, backups, sandbox, dataDir, started_at_ms, openApi, cell, readCluster }));
  const sessions = createSessions(base);
  const secure = dashboard?.secureCookie ?? true;
  const cookie = sessionCookie({ secure });
  const oidcOf = (settings: OidcSettings): OidcSignIn => ({
    oidc: createOidc({ settings, seal: base.seal, callback: () => `${base.publicUrl()}${oidcCallback}`, now }),
    people: createOidcPeople({ db, audit, settings, now }),
    cookie: attemptCookie({ secure }),
    log: base.log,
  });
  const shared = {
    sessions,
    cookie,
    limiter,
    idempotency,
    clientOf,
    projects,
    projectsElsewhere,
    watches,
    onRefused,
    resources,
    alerts,
    ofServer,
    mails: dashboard?.mail ? createMails({ ...base, mailer: createMailer(dashboard.mail) }) : null,
    oidc: dashboard?.oidc ? oidcOf(dashboard.oidc) : null,
  };

  return {
    exports: {
      backups,
      /** Returns the person who is signed in, or null. */
      personOf: (request: Request): User | null => sessions.use(cookie.read(request), request),
      /** True if the person is still signed in, for open streams: this does not extend the session. */
      staysSignedIn: (request: Request): boolean => sessions.lasts(cookie.read(request), request),
      /** Returns the signed-in person if they may run agents, else null. */
      memberOf(request: Request): { id: string } | null {
        const user = sessions.use(cookie.read(request), request);
        return user && reaches(user.role, "member") ? user : null;
      },
      /** Routes for people, who have a session and no key. */
      routes: (): ConsoleRoutes | null => (dashboard ? createConsole({ ...base, ...dashboard, ...shared }) : null),
    },
    stop: backups.stop,
  } satisfies Module;
}
