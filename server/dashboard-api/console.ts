import { type AnyElysia, Elysia } from "elysia";
import type { Alert } from "../domain/api-types/alert.ts";
import { AppError } from "../domain/errors.ts";
import type { Environment, Scope } from "../domain/scope.ts";
import type { NoLongerValid, OnRefused } from "../http/auth.ts";
import type { PublicUrl } from "../http/errors.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { Base, Mount } from "../http/module.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import { onAbort } from "../lib/on-abort.ts";
import type { Seal } from "../lib/seal.ts";
import { pulledStream, sseHeaders } from "../lib/sse.ts";
import type { ProjectStore } from "../resources/projects/store.ts";
import type { RunSubscriptions } from "../runs/stream/run-subscriptions.ts";
import type { Audit } from "../storage/db/audit.ts";
import type { Db } from "../storage/db/open.ts";
import { isShown } from "../storage/journal/journal.ts";
import { accountRoutes } from "./account-routes.ts";
import { createAccounts } from "./accounts.ts";
import { createSessionAuth, missingSession } from "./auth.ts";
import { factorRoutes } from "./factor-routes.ts";
import { createFindRun } from "./find-run.ts";
import { liveRuns } from "./live-runs.ts";
import { createLoginThrottle } from "./login-throttle.ts";
import type { Mails } from "./mails.ts";
import { createMembers } from "./members.ts";
import type { OidcSignIn } from "./oidc-routes.ts";
import { createPasskeys } from "./passkeys.ts";
import { createPasswords } from "./password.ts";
import { createPasswordResets } from "./password-resets.ts";
import { peopleRoutes } from "./people-routes.ts";
import { projectRoutes } from "./project-routes.ts";
import { sessionRoutes } from "./routes.ts";
import { createSecondFactor } from "./second-factor.ts";
import type { SessionCookie } from "./session-cookie.ts";
import { type SessionGuard, sessionGuard } from "./session-guard.ts";
import type { Sessions } from "./sessions.ts";
import { createSetup } from "./setup.ts";
import type { SignInLinks } from "./sign-in-links.ts";

/** Dashboard settings of the operator. */
export interface DashboardSettings {
  /** Serves the dashboard's files, from `createDashboard`. */
  pages: AnyElysia;
  /** False only where the server speaks plain HTTP on loopback. */
  secureCookie: boolean;
  version: string;
  /** Path of the certificate that clients have to trust, if the server signed its own. */
  caFile?: () => string | null;
  /** False if people sign in at the issuer only. */
  localAccounts?: boolean;
  /** Links that sign in without a password; absent in service. */
  signInLinks?: SignInLinks;
}

export interface DashboardDeps extends DashboardSettings {
  db: Db;
  seal: Seal;
  audit: Audit;
  projects: ProjectStore;
  /** Projects on other servers. */
  projectsElsewhere?: () => Promise<{ id: string; name: string }[]>;
  sessions: Sessions;
  cookie: SessionCookie;
  limiter: RateLimiter;
  watches: Pick<RunSubscriptions, "listen">;
  clientOf: (request: Request) => string | null;
  publicUrl: PublicUrl;
  /** Idempotency of the resource routes: a page that lost a response retries with the same key. */
  idempotency?: Idempotency;
  onRefused?: OnRefused;
  /** Ends every stream when the server stops. */
  abortSignalOf: Base["abortSignalOf"];
  /** The resources of /v1, for people instead of keys. */
  resources: Mount;
  /** Routes of the server that belong to no project. */
  ofServer: (signedIn: SessionGuard) => AnyElysia;
  /** Sign-in at an OpenID Connect issuer. */
  oidc?: OidcSignIn | null;
  /** Open alerts. */
  alerts?: { open(project_id: string, environment: Environment): Alert[] };
  /** Mails to people. */
  mails?: Mails | null;
  now?: () => number;
}

/** Routes of the dashboard. */
export interface DashboardRoutes {
  /** Files, sessions and routes that belong to no project. */
  own: AnyElysia;
  /** Mounts the API's resources for people. */
  ofProjects(into: AnyElysia): AnyElysia;
}

export function createDashboardRoutes(deps: DashboardDeps): DashboardRoutes {
  const { db, audit, projects, sessions, cookie, limiter, watches, publicUrl, abortSignalOf, resources, now } = deps;
  const throttle = createLoginThrottle({ now });
  const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle, now });
  const setup = createSetup({ db, audit, accounts, localAccounts: deps.localAccounts, now });
  const people = createMembers({ db, audit, accounts, now });
  const secondFactor = createSecondFactor({ ...deps, throttle: createLoginThrottle({ now }) });
  const passkeys = createPasskeys({ ...deps, throttle });
  const { mails = null } = deps;
  const resets = createPasswordResets({ ...deps, accounts, mails, throttle: createLoginThrottle({ now }) });
  const { clientOf, idempotency, onRefused } = deps;
  const auth = createSessionAuth({ sessions, cookie, setup, projects, limiter, clientOf, idempotency, onRefused });
  const admitted = sessionGuard({ sessions, setup, cookie, clientOf, onRefused });
  const noLongerValid: NoLongerValid = ({ project_id }, request) => {
    if (!sessions.lasts(cookie.read(request), request)) return missingSession(setup.required());
    return projects.isOpen(project_id) ? null : new AppError("project_archived", "The project is closed.");
  };
  const owned = db.sqlite.query(
    `SELECT 1 FROM runs WHERE id = ? AND project_id = ? AND environment = ? AND ${isShown}`,
  );

  const live = new Elysia().use(auth).get(
    "/runs/live",
    ({ principal, request }) => {
      const options = {
        scope: principal,
        listen: (listener: (runId: string) => void) => watches.listen(listener),
        belongs: ({ project_id, environment }: Scope, id: string) => owned.get(id, project_id, environment) !== null,
        noLongerValid: () => noLongerValid(principal, request),
        publicUrl,
      };
      let forget = () => {};
      const stream = pulledStream(
        (wake) => {
          const texts = liveRuns(options, wake);
          forget = onAbort([abortSignalOf(principal.project_id)], () => {
            texts.stop();
            wake();
          });
          return texts;
        },
        () => forget(),
      );
      return new Response(stream, { headers: sseHeaders });
    },
    { permission: "read" },
  );

  const findRun = createFindRun(db.sqlite);
  const runLookup = new Elysia()
    .use(auth)
    .get("/runs/of/:id", ({ principal, params }) => ({ object: "run", id: findRun(principal, params.id) }), {
      permission: "read",
    });

  const alerts = new Elysia().use(auth).get(
    "/alerts",
    ({ principal: { project_id, environment } }) => ({
      object: "list",
      data: deps.alerts?.open(project_id, environment) ?? [],
      has_more: false,
    }),
    { permission: "read" },
  );

  const own = new Elysia()
    .use(deps.pages)
    .use(sessionRoutes({ ...deps, accounts, secondFactor, passkeys, resets, people, setup }))
    .use(projectRoutes({ signedIn: admitted, projects }))
    .use(peopleRoutes({ signedIn: admitted, people, mails }))
    .use(accountRoutes({ signedIn: admitted, accounts, sessions }))
    .use(factorRoutes({ signedIn: admitted, accounts, secondFactor, passkeys }))
    .use(deps.ofServer(admitted));

  return {
    own,
    ofProjects: (into) =>
      into.group("/console/api/:project_id/:environment", (scoped) =>
        resources(scoped.use(live).use(runLookup).use(alerts), auth, noLongerValid),
      ),
  };
}
