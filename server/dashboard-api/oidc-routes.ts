import { Elysia } from "elysia";
import { SignInWays } from "../domain/api-types/console.ts";
import { AppError } from "../domain/errors.ts";
import { readJsonBody } from "../http/json-body.ts";
import { withDeclaration } from "../http/operation.ts";
import { requestOrigin } from "../http/request-origin.ts";
import type { Log } from "../lib/log.ts";
import { createLogSampler } from "../lib/log-sampler.ts";
import type { Audit } from "../storage/db/audit.ts";
import type { Db } from "../storage/db/open.ts";
import type { Origin, User } from "./accounts.ts";
import { type Oidc, OidcRefused } from "./oidc.ts";
import type { OidcPeople } from "./oidc-people.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { BeginOidc } from "./schema.ts";
import type { ShortCookie } from "./session-cookie.ts";

/** Sign-in at an OpenID Connect issuer. */
export interface OidcSignIn {
  oidc: Oidc;
  people: OidcPeople;
  /** Cookie that keeps an attempt in the browser that started it. */
  cookie: ShortCookie;
  log: Log;
}

interface OidcRoutes {
  signIn: OidcSignIn | null;
  /** True if people may sign in by password. */
  localAccounts: boolean;
  /** True if the server can mail a link to reset a password. */
  mail: boolean;
  openSession(user: User, origin: Origin, request: Request): Promise<string>;
  originOfVisitor(request: Request, headers: Record<string, string | number>): Origin;
  publicUrl: () => string;
  db: Db;
  audit: Audit;
  now?: () => number;
}

export const oidcCallback = "/console/api/oidc/callback";

/** Routes for the ways to sign in, and to the issuer and back. */
export function oidcRoutes({
  signIn,
  localAccounts,
  mail,
  openSession,
  originOfVisitor,
  publicUrl,
  db,
  audit,
  now = Date.now,
}: OidcRoutes) {
  const failures = createLogSampler({ most: 30, window_ms: 60_000, now });

  async function noteRefusal({ reason, cause }: OidcRefused, origin: Origin, log: Log): Promise<void> {
    if (reason === "issuer" || reason === "unreachable") log.warn("a sign-in at the issuer failed", { cause });
    if (reason === "server") log.error("a sign-in failed on this server", { cause });
    const details = failures.take();
    const actor = { type: "user" as const, id: "unknown", ...origin };
    if (!details) return;
    // Show the reason even if the disk is full.
    await db
      .write(() => audit.note({ actor }, "user.sign_in_failed", "unknown", { ...details, reason }))
      .catch((error) => log.warn("a failed sign-in was not noted in the audit log", { error }));
  }

  const refused = (error: unknown): OidcRefused =>
    error instanceof OidcRefused ? error : new OidcRefused("server", error);

  return new Elysia({ prefix: "/console/api" })
    .get(
      "/sign_in",
      () => ({ local: localAccounts, oidc: signIn && { name: signIn.oidc.name }, mail }),
      withDeclaration({ returns: SignInWays }),
    )
    .post(
      "/oidc/begin",
      async ({ body, request, set }) => {
        if (!signIn) throw new AppError("resource_not_found", "Signing in at an issuer is not set up here.");
        if (requestOrigin(request) !== new URL(publicUrl()).origin)
          throw new AppError("cross_origin", `The issuer leads back to ${publicUrl()}: open the dashboard there.`);
        const { url, attempt } = await signIn.oidc.begin(body.to).catch((error) => {
          signIn.log.warn("the issuer was not reached", { cause: refused(error).cause });
          throw new AppError("issuer_failed", "The issuer was not reached.", { retryAfter: 10 });
        });
        set.headers["set-cookie"] = signIn.cookie.set(attempt, request);
        return { url };
      },
      {
        parse: async ({ request }) => {
          requireSameOrigin(request);
          return await readJsonBody(request);
        },
        body: BeginOidc,
        ...withDeclaration({ needsRoom: false }),
      },
    )
    .get("/oidc/callback", async ({ request, set }) => {
      const headers = new Headers({ "cache-control": "no-store" });
      const refuse = (reason: OidcRefused["reason"]): void =>
        headers.set("location", `/dashboard/login?refused=${reason}`);
      const respond = () => new Response(null, { status: 303, headers });
      if (!signIn) {
        refuse("off");
        return respond();
      }
      const origin = originOfVisitor(request, set.headers as Record<string, string>);
      headers.append("set-cookie", signIn.cookie.clear(request));
      try {
        const { identity, to } = await signIn.oidc.end(new URL(request.url).search, signIn.cookie.read(request));
        const user = await signIn.people.admit(identity, origin);
        headers.append("set-cookie", await openSession(user, origin, request));
        headers.set("location", `/dashboard${to}`);
      } catch (error) {
        const refusal = refused(error);
        await noteRefusal(refusal, origin, signIn.log);
        refuse(refusal.reason);
      }
      return respond();
    });
}
