import { Elysia } from "elysia";
import { Session } from "../domain/api-types/console.ts";
import { AppError } from "../domain/errors.ts";
import { readJsonBody } from "../http/json-body.ts";
import { withDeclaration } from "../http/operation.ts";
import { EmptyBody } from "../http/schemas.ts";
import type { ProjectStore } from "../resources/projects/store.ts";
import type { Audit } from "../storage/db/audit.ts";
import type { Db } from "../storage/db/open.ts";
import type { Accounts, Origin, User } from "./accounts.ts";
import { missingSession } from "./auth.ts";
import { pageOf } from "./factor-routes.ts";
import type { Members } from "./members.ts";
import { type OidcSignIn, oidcRoutes } from "./oidc-routes.ts";
import type { Passkeys } from "./passkeys.ts";
import type { PasswordResets } from "./password-resets.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { AcceptInvitation, AskReset, Login, PasskeySignIn, ReadInvitation, SetUp } from "./schema.ts";
import type { SecondFactor } from "./second-factor.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import type { Setup } from "./setup.ts";
import { type SignInLinks, signInLinkRoutes } from "./sign-in-links.ts";

interface SessionRoutes {
  accounts: Accounts;
  secondFactor: SecondFactor;
  passkeys: Passkeys;
  resets: PasswordResets;
  mails?: unknown;
  people: Members;
  sessions: Sessions;
  setup: Setup;
  cookie: SessionCookie;
  projects: ProjectStore;
  projectsElsewhere?: () => Promise<{ id: string; name: string }[]>;
  clientOf: (request: Request) => string | null;
  version: string;
  caFile?: () => string | null;
  /** False if people sign in at the issuer only. */
  localAccounts?: boolean;
  oidc?: OidcSignIn | null;
  /** Absent if no link signs in. */
  signInLinks?: SignInLinks;
  publicUrl: () => string;
  db: Db;
  audit: Audit;
  now?: () => number;
}

type Headers = Record<string, string | number>;

/** Routes for sessions: set-up by the one-time link, invitations, login, logout. */
export function sessionRoutes(deps: SessionRoutes) {
  const {
    accounts,
    secondFactor,
    passkeys,
    resets,
    people,
    sessions,
    setup,
    cookie,
    projects,
    clientOf,
    version,
    caFile,
    publicUrl,
  } = deps;
  const { localAccounts = true, oidc = null, projectsElsewhere = async () => [] } = deps;

  const openProjects = () =>
    projects
      .list()
      .filter(({ archived_at_ms }) => archived_at_ms === null)
      .map(({ id, name }) => ({ id, name }));
  const sessionOf = async (user: User) => ({
    user,
    projects: [...openProjects(), ...(await projectsElsewhere())],
    setup_required: false,
    version,
    ca_file: caFile?.() ?? null,
    public_url: publicUrl(),
  });
  const originOf = (request: Request, headers: Headers): Origin => ({
    ip: clientOf(request),
    request_id: String(headers["x-request-id"]),
  });
  /** Opens a new session and returns its cookie. Never reuses one, which prevents session fixation. */
  async function openSession(user: User, origin: Origin, request: Request): Promise<string> {
    const token = await sessions.open(user.id, origin, request.headers.get("user-agent"));
    await sessions.close(cookie.read(request));
    return cookie.set(token, request);
  }
  async function signIn(user: User, origin: Origin, request: Request, headers: Headers) {
    headers["set-cookie"] = await openSession(user, origin, request);
    return await sessionOf(user);
  }
  function requireLocal(): void {
    if (!localAccounts)
      throw new AppError("local_accounts_off", "Signing in with a password is disabled here. Sign in at the issuer.");
  }
  const parse = async ({ request }: { request: Request }) => {
    requireSameOrigin(request);
    return await readJsonBody(request);
  };

  const local = new Elysia({ prefix: "/console/api" })
    .get(
      "/session",
      async ({ request }) => {
        const user = sessions.use(cookie.read(request), request);
        if (!user) throw missingSession(setup.required());
        return await sessionOf(user);
      },
      withDeclaration({ returns: Session }),
    )
    .post(
      "/setup",
      async ({ body, request, set, status }) => {
        const origin = originOf(request, set.headers as Headers);
        requireLocal();
        const user = await setup.complete(body, origin);
        return status(201, await signIn(user, origin, request, set.headers as Headers));
      },
      { parse, body: SetUp, ...withDeclaration({ creates: Session }) },
    )
    .post("/invitations/read", ({ body }) => ({ object: "invitation", ...people.read(body.token) }), {
      parse,
      body: ReadInvitation,
    })
    .post(
      "/invitations/accept",
      async ({ body, request, set, status }) => {
        const origin = originOf(request, set.headers as Headers);
        requireLocal();
        const user = await people.accept(body, origin);
        return status(201, await signIn(user, origin, request, set.headers as Headers));
      },
      { parse, body: AcceptInvitation, ...withDeclaration({ creates: Session }) },
    )
    .post(
      "/login",
      async ({ body, request, set }) => {
        const origin = originOf(request, set.headers as Headers);
        requireLocal();
        const user = await accounts.login(body, origin);
        await secondFactor.require(user, body.code, origin);
        return await signIn(user, origin, request, set.headers as Headers);
      },
      { parse, body: Login, ...withDeclaration({ needsRoom: false, returns: Session }) },
    )
    .post(
      "/password_resets",
      ({ body, request, set }) => {
        requireLocal();
        resets.ask(body.email, originOf(request, set.headers as Headers));
        return { sent: true };
      },
      { parse, body: AskReset },
    )
    .post(
      "/password_resets/accept",
      async ({ body, request, set }) => {
        requireLocal();
        await resets.accept(body, originOf(request, set.headers as Headers));
        return { changed: true };
      },
      { parse, body: AcceptInvitation },
    )
    .post("/passkeys/begin", async ({ request }) => ({ options: await passkeys.beginSignIn(pageOf(request)) }), {
      parse,
      body: EmptyBody,
      ...withDeclaration({ needsRoom: false }),
    })
    .post(
      "/passkeys/sign_in",
      async ({ body, request, set }) => {
        const origin = originOf(request, set.headers as Headers);
        requireLocal();
        const user = await passkeys.signIn(body.response, pageOf(request), origin);
        return await signIn(user, origin, request, set.headers as Headers);
      },
      { parse, body: PasskeySignIn, ...withDeclaration({ needsRoom: false, returns: Session }) },
    )
    .post(
      "/logout",
      async ({ body: _, request, set }) => {
        await sessions.close(cookie.read(request), originOf(request, set.headers as Headers));
        set.headers["set-cookie"] = cookie.clear(request);
        return { signed_in: false };
      },
      { parse, body: EmptyBody, ...withDeclaration({ needsRoom: false }) },
    );
  const { signInLinks: links } = deps;
  const visits = { openSession, originOfVisitor: originOf };
  return new Elysia()
    .use(local)
    .use(links ? signInLinkRoutes({ links, ...visits }) : new Elysia())
    .use(oidcRoutes({ ...deps, ...visits, signIn: oidc, localAccounts, mail: Boolean(deps.mails) && localAccounts }));
}
