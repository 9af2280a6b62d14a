import { Elysia } from "elysia";
import type { OnRefused } from "../http/auth.ts";
import type { HttpModule } from "../http/create-http.ts";
import type { Base, Module, Mount } from "../http/module.ts";
import { createMailer, type MailSettings } from "../lib/mailer.ts";
import type { ConnectionsModule } from "../resources/model-connections/module.ts";
import { tryConnection } from "../resources/model-connections/try-connection.ts";
import type { ProjectsModule } from "../resources/projects/module.ts";
import type { RunsModule } from "../runs/module.ts";
import type { AlertsModule } from "../services/alerts/module.ts";
import type { User } from "./accounts.ts";
import { createBackups, type MakeBackup } from "./backups.ts";
import { type ClusterPort, createClusterReader } from "./cluster.ts";
import { connectionRoutes } from "./connection-routes.ts";
import { createDashboardRoutes, type DashboardDeps, type DashboardRoutes, type DashboardSettings } from "./console.ts";
import { createMails } from "./mails.ts";
import { createOidc, type OidcSettings } from "./oidc.ts";
import { createOidcPeople } from "./oidc-people.ts";
import { type OidcSignIn, oidcCallback } from "./oidc-routes.ts";
import { hasRole } from "./role.ts";
import { serverRoutes } from "./server-routes.ts";
import { attemptCookie, sessionCookie } from "./session-cookie.ts";
import { createSessions } from "./sessions.ts";

export interface DashboardOptions {
  /** Absent if the server has no dashboard. */
  dashboard?: DashboardSettings & { oidc?: OidcSettings | null; mail?: MailSettings | null };
  /** Makes the backups for download at the dashboard. */
  makeBackup?: MakeBackup;
  /** Absent on one machine. */
  clusterStatus?: ClusterPort;
  /** Returns the person of a request that another node forwarded; absent if no requests are forwarded. */
  personOf?: (request: Request) => User | null;
  /** Projects on other servers, to which requests for them are forwarded. */
  projectsElsewhere?: () => Promise<{ id: string; name: string }[]>;
}

interface Needs {
  base: Base;
  options: DashboardOptions;
  http: HttpModule;
  projects: ProjectsModule;
  connections: ConnectionsModule;
  runs: RunsModule;
  alerts: AlertsModule;
  onRefused: OnRefused;
  /** Routes of the API, for people instead of keys. */
  resources: Mount;
}

/** Server side of the dashboard, with the routes that belong to no project. */
export function createDashboardApiModule({
  base,
  options,
  http,
  projects,
  connections,
  runs,
  alerts,
  onRefused,
  resources,
}: Needs) {
  const { dashboard, clusterStatus: cluster, projectsElsewhere, personOf } = options;
  const { makeBackup: make = () => Promise.reject(new Error("Nothing here makes backups.")) } = options;
  const { limiter, idempotency, clientOf, openApi } = http;
  const { store, prices, breakers, refusals, catalog } = connections;
  const { db, audit, dataDir, sandbox, now } = base;
  const started_at_ms = now();
  const backups = createBackups({ ...base, make, requireRoom: () => base.requireRoom(true) });
  const cell = cluster?.cell ?? null;
  const readCluster = createClusterReader({ cluster: cluster ?? null, lastFailover: alerts.store.lastFailover });
  const ofServer: DashboardDeps["ofServer"] = (signedIn) =>
    new Elysia()
      .use(
        connectionRoutes({
          signedIn,
          connections: store,
          consents: connections.consents,
          publicUrl: base.publicUrl,
          prices,
          breakers,
          refusals,
          catalog,
          tryConnection,
          closing: base.closing,
          egress: base.egress("live"),
          now,
        }),
      )
      .use(serverRoutes({ signedIn, backups, sandbox, dataDir, started_at_ms, openApi, cell, readCluster }));
  const sessions = createSessions({ ...base, personOf });
  const secure = dashboard?.secureCookie ?? true;
  const cookie = sessionCookie({ secure, byPort: dashboard?.signInLinks !== undefined });
  const oidcOf = (settings: OidcSettings): OidcSignIn => ({
    oidc: createOidc({ settings, seal: base.seal, callback: () => `${base.publicUrl()}${oidcCallback}`, now }),
    people: createOidcPeople({ db, audit, settings, now }),
    cookie: attemptCookie({ secure }),
    log: base.log,
  });
  const consoleOf = ({ mail, oidc, ...own }: NonNullable<DashboardOptions["dashboard"]>): DashboardRoutes =>
    createDashboardRoutes({
      ...base,
      ...own,
      sessions,
      cookie,
      limiter,
      idempotency,
      clientOf,
      projects: projects.store,
      projectsElsewhere,
      watches: runs.watches,
      onRefused,
      resources,
      alerts: alerts.store,
      ofServer,
      mails: mail ? createMails({ ...base, mailer: createMailer(mail) }) : null,
      oidc: oidc ? oidcOf(oidc) : null,
    });

  return {
    backups,
    /** Returns the person who is signed in, or null. */
    personOf: (request: Request): User | null => sessions.use(cookie.read(request), request),
    /** True if the person is still signed in, for open streams: this does not extend the session. */
    staysSignedIn: (request: Request): boolean => sessions.lasts(cookie.read(request), request),
    /** Returns the signed-in person if they may run agents, else null. */
    memberOf(request: Request): { id: string } | null {
      const user = sessions.use(cookie.read(request), request);
      return user && hasRole(user.role, "member") ? user : null;
    },
    /** Routes for people, who have a session and no key; null if there is no dashboard. */
    console: dashboard ? consoleOf(dashboard) : null,
    stop: backups.stop,
  } satisfies Module;
}
