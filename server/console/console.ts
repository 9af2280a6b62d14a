import { type AnyElysia, Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import type { NoLongerValid, OnRefused } from "../http/auth.ts";
import type { PublicUrl } from "../http/errors.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { Base, Mount } from "../http/part.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import { isShown } from "../journal/journal.ts";
import type { Seal } from "../lib/seal.ts";
import { pushedStream, sseHeaders } from "../lib/sse.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import type { ProjectStore } from "../projects/store.ts";
import type { Watches } from "../runs/watch.ts";
import type { Alert } from "../wire/alert.ts";
import { accountRoutes } from "./account-routes.ts";
import { createAccounts } from "./accounts.ts";
import { createConsoleAuth, missingSession } from "./auth.ts";
import { factorRoutes } from "./factor-routes.ts";
import { createFindRun } from "./find-run.ts";
import { liveRuns } from "./live-runs.ts";
import { createLoginThrottle } from "./login-throttle.ts";
import type { Mails } from "./mails.ts";
import type { OidcSignIn } from "./oidc-routes.ts";
import { createPasskeys } from "./passkeys.ts";
import { createPasswords } from "./password.ts";
import { createPasswordResets } from "./password-resets.ts";
import { createPeople } from "./people.ts";
import { peopleRoutes } from "./people-routes.ts";
import { projectRoutes } from "./project-routes.ts";
import { sessionRoutes } from "./routes.ts";
import { createSecondFactor } from "./second-factor.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import { createSetup } from "./setup.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

/** What the operator's settings say of the dashboard. */
export interface ConsoleOptions {
  /** Serves the dashboard's files, from `createDashboard`. */
  pages: AnyElysia;
  /** False only where the server speaks plain HTTP on loopback. */
  secureCookie: boolean;
  version: string;
  /** The file that clients need to trust the certificate, if it is the server's own. */
  caFile?: () => string | null;
  /** False where people sign in at the issuer alone. */
  localAccounts?: boolean;
}

export interface Console extends ConsoleOptions {
  db: Db;
  seal: Seal;
  audit: Audit;
  projects: ProjectStore;
  sessions: Sessions;
  cookie: SessionCookie;
  limiter: RateLimiter;
  watches: Pick<Watches, "listen">;
  clientOf: (request: Request) => string | null;
  publicUrl: PublicUrl;
  /** Of the resources: a page that lost an answer asks again with the same key. */
  idempotency?: Pick<Idempotency, "begin">;
  onRefused?: OnRefused;
  /** Ends every stream: the server stops. */
  ending: Base["ending"];
  /** The same resources as under /v1, for another kind of principal. */
  resources: Mount;
  /** What belongs to no project: the server's own. */
  ofServer: (signedIn: SignedIn) => AnyElysia;
  /** Where people sign in at an issuer. */
  oidc?: OidcSignIn | null;
  /** What is not well. */
  alerts?: { open(project_id: string, environment: Environment): Alert[] };
  /** Where people are written to. */
  mails?: Mails | null;
  now?: () => number;
}

/** The dashboard's side of the server. */
export interface ConsoleRoutes {
  /** Its files, its sessions and what belongs to no project. */
  own: AnyElysia;
  /** Puts the API's resources where people reach them. */
  ofProjects(into: AnyElysia): AnyElysia;
}

export function createConsole(deps: Console): ConsoleRoutes {
  const { db, audit, projects, sessions, cookie, limiter, watches, publicUrl, ending, resources, now } = deps;
  const throttle = createLoginThrottle({ now });
  const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle, now });
  const setup = createSetup({ db, audit, accounts, localAccounts: deps.localAccounts, now });
  const people = createPeople({ db, audit, accounts, now });
  const secondFactor = createSecondFactor({ ...deps, throttle: createLoginThrottle({ now }) });
  const passkeys = createPasskeys({ ...deps, throttle });
  const { mails = null } = deps;
  const resets = createPasswordResets({ ...deps, accounts, mails, throttle: createLoginThrottle({ now }) });
  const { clientOf, idempotency, onRefused } = deps;
  const auth = createConsoleAuth({ sessions, cookie, setup, projects, limiter, clientOf, idempotency, onRefused });
  const admitted = signedIn({ sessions, setup, cookie, clientOf, onRefused });
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
        listen: watches.listen,
        belongs: ({ project_id, environment }: Scope, id: string) => owned.get(id, project_id, environment) !== null,
        noLongerValid: () => noLongerValid(principal, request),
        publicUrl,
      };
      let forget = () => {};
      const stream = pushedStream(
        (wake) => {
          const texts = liveRuns(options, wake);
          forget = untilAborted([ending(principal.project_id)], () => {
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
  const found = new Elysia()
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
        resources(scoped.use(live).use(found).use(alerts), auth, noLongerValid),
      ),
  };
}
