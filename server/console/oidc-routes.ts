import { Elysia } from "elysia";
import { AppError } from "../core/errors.ts";
import type { Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { readJsonBody } from "../http/json-body.ts";
import { declared } from "../http/operation.ts";
import { originOf } from "../http/own-origin.ts";
import type { Log } from "../lib/log.ts";
import { createSample } from "../lib/sample.ts";
import { SignInWays } from "../wire/console.ts";
import type { Origin, User } from "./accounts.ts";
import { type Oidc, OidcRefused } from "./oidc.ts";
import type { OidcPeople } from "./oidc-people.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { BeginOidc } from "./schema.ts";
import type { ShortCookie } from "./session-cookie.ts";

/** People who sign in at an issuer. */
export interface OidcSignIn {
  oidc: Oidc;
  people: OidcPeople;
  /** Keeps an attempt in the browser that began it. */
  cookie: ShortCookie;
  log: Log;
}

interface OidcRoutes {
  signIn: OidcSignIn | null;
  /** Whether people may sign in by a password. */
  localAccounts: boolean;
  /** Whether who has forgotten a password is sent a link. */
  mail: boolean;
  openSession(user: User, origin: Origin, request: Request): Promise<string>;
  originOfVisitor(request: Request, headers: Record<string, string | number>): Origin;
  publicUrl: () => string;
  db: Db;
  audit: Audit;
  now?: () => number;
}

export const oidcCallback = "/console/api/oidc/callback";

/** How people sign in here, and the way to the issuer and back. */
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
  const failures = createSample({ most: 30, window_ms: 60_000, now });

  async function noteRefusal({ reason, cause }: OidcRefused, origin: Origin, log: Log): Promise<void> {
    if (reason === "issuer" || reason === "unreachable") log.warn("a sign-in at the issuer failed", { cause });
    if (reason === "server") log.error("a sign-in failed on this server", { cause });
    const details = failures.take();
    const actor = { type: "user" as const, id: "unknown", ...origin };
    if (!details) return;
    // The person is told the reason also if the disk is full.
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
      declared({ returns: SignInWays }),
    )
    .post(
      "/oidc/begin",
      async ({ body, request, set }) => {
        if (!signIn) throw new AppError("resource_not_found", "Signing in at an issuer is not set up here.");
        if (originOf(request) !== new URL(publicUrl()).origin)
          throw new AppError("cross_origin", `The issuer leads back to ${publicUrl()}: open the dashboard there.`);
        const { url, attempt } = await signIn.oidc.begin(body.to).catch((error) => {
          signIn.log.warn("the issuer was not reached", { cause: refused(error).cause });
          throw new AppError("issuer_failed", "The issuer was not reached.", { retryAfter: 10 });
        });
        set.headers["set-cookie"] = signIn.cookie.set(attempt);
        return { url };
      },
      {
        parse: async ({ request }) => {
          requireSameOrigin(request);
          return await readJsonBody(request);
        },
        body: BeginOidc,
        ...declared({ needsRoom: false }),
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
      headers.append("set-cookie", signIn.cookie.clear());
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
