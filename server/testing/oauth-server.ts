/** A registered client of the server. */
interface Registered {
  secret: string | null;
  redirect_uris: readonly string[] | null;
}

interface Code {
  client_id: string;
  challenge: string;
  redirect_uri: string;
  scope: string;
  resource: string | null;
  subject: string;
}

/** Tokens that descend from one consent. */
interface Family {
  client_id: string;
  subject: string;
  scope: string;
  refresh_token: string | null;
  isRevoked: boolean;
}

/** Deviations from the protocol, which a test sets. */
export interface OAuthFaults {
  /** Changes the metadata. */
  metadata?: (metadata: Record<string, unknown>) => void;
  /** Replaces the answer of the token endpoint; undefined: the right one. */
  token?: (form: URLSearchParams) => Response | Promise<Response> | undefined;
  /** Changes the body of the right answer. */
  body?: (body: Record<string, unknown>) => void;
  revoke?: () => Response;
  register?: (body: Record<string, unknown>) => Response | undefined;
}

export const oauthClientId = "runnel";
export const oauthClientSecret = "the secret: of the client";

export type OAuthServer = Awaited<ReturnType<typeof startOAuthServer>>;

/**
 * Starts an authorization server on loopback, with a resource at `/api`. It rotates refresh tokens, takes the second use
 * of one for a theft, uses a code once, and misbehaves on demand.
 */
export async function startOAuthServer() {
  const clients = new Map<string, Registered>([[oauthClientId, { secret: oauthClientSecret, redirect_uris: null }]]);
  const codes = new Map<string, Code>();
  const access = new Map<string, { family: Family; expires_at: number | null }>();
  const families: Family[] = [];
  const spent = new Set<string>();
  let spentTwice = 0;
  const state = {
    faults: {} as OAuthFaults,
    lifetime_seconds: 3600 as number | null,
    rotates: true,
    now: Date.now,
    /** Forms that the token endpoint got. */
    asked: [] as Record<string, string>[],
    revoked: [] as string[],
    registrations: [] as Record<string, unknown>[],
    /** Subjects of the resource's callers, in order; null: refused. */
    callers: [] as (string | null)[],
    /** Who is signed in at the page of the authorization endpoint. */
    subject: "ada",
    /** Awaited before the token endpoint answers. */
    before: async () => {},
  };
  const random = (kind: string): string => `${kind}-${crypto.randomUUID()}`;

  function metadata(): Record<string, unknown> {
    const { origin } = server.url;
    const said: Record<string, unknown> = {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
      authorization_response_iss_parameter_supported: true,
    };
    state.faults.metadata?.(said);
    return said;
  }

  /** Returns the id of the client that a request authenticates; null: none. */
  function clientOf(request: Request, form: URLSearchParams): string | null {
    const [, basic] = /^Basic (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
    const [id = "", secret = null] =
      basic === undefined
        ? [form.get("client_id") ?? "", form.get("client_secret")]
        : atob(basic)
            .split(":")
            .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    const known = clients.get(id);
    return known && known.secret === secret ? id : null;
  }

  const refuse = (error: string, status = 400) =>
    Response.json({ error, error_description: `It is ${error}.` }, { status });

  function issue(family: Family, isOwn = false): Response {
    const access_token = random("at");
    const { lifetime_seconds } = state;
    access.set(access_token, {
      family,
      expires_at: lifetime_seconds === null ? null : state.now() + lifetime_seconds * 1000,
    });
    const hasNew = !isOwn && (family.refresh_token === null || state.rotates);
    if (hasNew) family.refresh_token = random("rt");
    const body: Record<string, unknown> = {
      access_token,
      token_type: "Bearer",
      ...(lifetime_seconds !== null && { expires_in: lifetime_seconds }),
      ...(hasNew && { refresh_token: family.refresh_token }),
      scope: family.scope,
    };
    state.faults.body?.(body);
    return Response.json(body, { headers: { "cache-control": "no-store" } });
  }

  function newFamily(family: Pick<Family, "client_id" | "subject" | "scope">): Family {
    const made = { ...family, refresh_token: null, isRevoked: false };
    families.push(made);
    return made;
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    state.asked.push(Object.fromEntries(form));
    await state.before();
    const other = await state.faults.token?.(form);
    if (other) return other;
    const client_id = clientOf(request, form);
    if (client_id === null) return refuse("invalid_client", 401);
    switch (form.get("grant_type")) {
      case "client_credentials":
        return issue(newFamily({ client_id, subject: client_id, scope: form.get("scope") ?? "" }), true);
      case "authorization_code": {
        const code = codes.get(form.get("code") ?? "");
        codes.delete(form.get("code") ?? "");
        const challenge = new Bun.CryptoHasher("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
        const isRight =
          code?.client_id === client_id &&
          code.challenge === challenge &&
          code.redirect_uri === form.get("redirect_uri") &&
          code.resource === form.get("resource");
        return code && isRight ? issue(newFamily({ ...code, client_id })) : refuse("invalid_grant");
      }
      case "refresh_token": {
        const given = form.get("refresh_token") ?? "";
        const family = families.find(({ refresh_token }) => refresh_token === given);
        if (!family || family.isRevoked || family.client_id !== client_id) {
          // A second use: the token was stolen, or its owner lost the answer.
          if (spent.has(given)) spentTwice++;
          for (const each of families) if (spent.has(given)) each.isRevoked = true;
          return refuse("invalid_grant");
        }
        if (state.rotates) spent.add(given);
        return issue(family);
      }
      default:
        return refuse("unsupported_grant_type");
    }
  }

  async function revoke(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const failed = state.faults.revoke?.();
    if (failed) return failed;
    if (clientOf(request, form) === null) return refuse("invalid_client", 401);
    const given = form.get("token") ?? "";
    state.revoked.push(given);
    const family = access.get(given)?.family ?? families.find(({ refresh_token }) => refresh_token === given);
    if (family) family.isRevoked = true;
    return new Response(null, { status: 200 });
  }

  async function register(request: Request): Promise<Response> {
    const body = (await request.json()) as Record<string, unknown>;
    state.registrations.push(body);
    const other = state.faults.register?.(body);
    if (other) return other;
    const client_id = random("client");
    clients.set(client_id, { secret: null, redirect_uris: body.redirect_uris as string[] });
    return Response.json({ ...body, client_id, token_endpoint_auth_method: "none" }, { status: 201 });
  }

  /** Consents at the address to which a browser was sent, and returns where it is sent back. */
  function consent(address: string, subject: string): string {
    const query = new URL(address).searchParams;
    const code = random("code");
    const redirect_uri = query.get("redirect_uri") ?? "";
    codes.set(code, {
      client_id: query.get("client_id") ?? "",
      challenge: query.get("code_challenge") ?? "",
      redirect_uri,
      scope: query.get("scope") ?? "",
      resource: query.get("resource"),
      subject,
    });
    return `${redirect_uri}?${new URLSearchParams({ code, state: query.get("state") ?? "", iss: server.url.origin })}`;
  }

  /** The page on which a person consents or refuses. */
  function authorizePage({ url }: Request): Response {
    const query = new URL(url).searchParams;
    const refusal = { error: "access_denied", state: query.get("state") ?? "", iss: server.url.origin };
    const link = (text: string, href: string) => `<p><a href="${Bun.escapeHTML(href)}">${text}</a>`;
    const page = `<!doctype html><html lang="en"><title>Consent</title><h1>Let runnel act as ${state.subject}?</h1>${link(
      "Allow",
      consent(url, state.subject),
    )}${link("Refuse", `${query.get("redirect_uri")}?${new URLSearchParams(refusal)}`)}`;
    return new Response(page, { headers: { "content-type": "text/html" } });
  }

  /** Returns the subject of a request's token; null if it is not valid. */
  function subjectOf(request: Request): string | null {
    const [, given = ""] = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
    const found = access.get(given);
    const isValid = found && !found.family.isRevoked && (found.expires_at === null || found.expires_at > state.now());
    return isValid ? found.family.subject : null;
  }

  function api(request: Request): Response {
    const subject = subjectOf(request);
    state.callers.push(subject);
    return subject === null
      ? Response.json(
          { error: "who are you?" },
          { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } },
        )
      : Response.json({ subject });
  }

  const server: Bun.Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/.well-known/oauth-authorization-server": (): Response => Response.json(metadata()),
      "/authorize": authorizePage,
      "/token": { POST: token },
      "/revoke": { POST: revoke },
      "/register": { POST: register },
      "/api": api,
    },
    fetch: () =>
      new Response("<!doctype html><p>Nothing here", { status: 404, headers: { "content-type": "text/html" } }),
  });

  return Object.assign(state, {
    url: server.url.origin,
    subjectOf,
    /** All tokens that were ever issued. */
    issued: (): string[] => [
      ...access.keys(),
      ...spent,
      ...families.flatMap(({ refresh_token }) => refresh_token ?? []),
    ],
    /** Number of requests for tokens of this grant. */
    requests: (grant_type: string): number => state.asked.filter((form) => form.grant_type === grant_type).length,
    /** Number of refresh tokens that came a second time. */
    spentTwice: () => spentTwice,
    /** Makes every access token of a subject invalid, as a changed password does; refresh tokens stay. */
    forget(subject: string): void {
      for (const [given, { family }] of access) if (family.subject === subject) access.delete(given);
    },
    /** Takes a subject's consent back. */
    takeBack(subject: string): void {
      for (const family of families) if (family.subject === subject) family.isRevoked = true;
    },
    /** Consents at the address to which a browser was sent, and returns the path and query of the way back. */
    consent(address: string, subject: string): string {
      const { pathname, search } = new URL(consent(address, subject));
      return pathname + search;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  });
}
