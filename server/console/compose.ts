import { Elysia } from "elysia";
import type { PriceStore } from "../connections/prices.ts";
import type { ConnectionStore } from "../connections/store.ts";
import { tryConnection } from "../connections/try-connection.ts";
import type { OnRefused } from "../http/auth.ts";
import type { composeHttp } from "../http/compose.ts";
import type { Base, Part } from "../http/part.ts";
import { createMailer, type MailSettings } from "../lib/mailer.ts";
import type { ProjectStore } from "../projects/store.ts";
import type { Watches } from "../runs/watch.ts";
import type { ClusterInfo } from "../wire/console.ts";
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
  /** Absent where nobody looks: the API alone. */
  dashboard?: ConsoleOptions & { oidc?: OidcSettings | null; mail?: MailSettings | null };
  /** Makes the backups that people download at the dashboard. */
  makeBackup?: MakeBackup;
  /** Absent on one machine. */
  clusterStatus?: ClusterPort;
  /** Who is signed in where a request was passed on from; absent where none is passed on. */
  personOf?: (request: Request) => User | null;
  /** Projects that are kept by other servers, which requests for them are passed on to. */
  projectsElsewhere?: () => Promise<{ id: string; name: string }[]>;
}

/** The dashboard's side of the server, with what people reach there that belongs to no project. */
export function composeConsole({
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
    http: ReturnType<typeof composeHttp>;
    connections: { connections: ConnectionStore; prices: PriceStore };
    projects: ProjectStore;
    runs: { watches: Watches };
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
    ports: {
      backups,
      /** Who is signed in where this request comes from; null: nobody. */
      personOf: (request: Request): User | null => sessions.use(cookie.read(request), request),
      /** Whether they still are, while a stream is open: this does not extend the session. */
      staysSignedIn: (request: Request): boolean => sessions.lasts(cookie.read(request), request),
      /** Who may run agents, and is signed in there; null: nobody. */
      memberOf(request: Request): { id: string } | null {
        const user = sessions.use(cookie.read(request), request);
        return user && reaches(user.role, "member") ? user : null;
      },
      /** For people, who have a session and no key. */
      routes: (): ConsoleRoutes | null => (dashboard ? createConsole({ ...base, ...dashboard, ...shared }) : null),
    },
    stop: backups.stop,
  } satisfies Part;
}
