import { createHmac } from "node:crypto";

/** What an issuer tells of somebody, and how it goes wrong. */
export interface Told {
  claims: Record<string, unknown>;
  /** Changes the claims that the id token has. */
  tamper?: (claims: Record<string, unknown>) => void;
  /** Who signs: the issuer, somebody else with the same key id, nobody, or whoever knows the client's secret. */
  signed?: "own" | "foreign" | "none" | "hmac";
}

export const oidcClient = { clientId: "runnel", clientSecret: "the secret of the client" };

/** An OpenID Connect issuer on loopback, whose people are whoever a test says, and which does wrong when told to. */
export async function startIssuer() {
  const [own, foreign] = await Promise.all([newKey(), newKey()]);
  const jwk = { ...(await crypto.subtle.exportKey("jwk", own.publicKey)), kid: "k1", alg: "ES256", use: "sig" };
  const codes = new Map<string, { told: Told; nonce: string; challenge: string; redirect: string }>();

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verifier = form.get("code_verifier") ?? "";
    const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
    const isClient = form.get("client_secret") === oidcClient.clientSecret;
    if (!isClient || code?.challenge !== challenge || code.redirect !== form.get("redirect_uri"))
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    return Response.json({
      access_token: "at",
      token_type: "Bearer",
      expires_in: 60,
      id_token: await idToken(code.told, code.nonce),
    });
  }

  async function idToken({ claims, tamper, signed = "own" }: Told, nonce: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const body = { iss: server.url.origin, aud: oidcClient.clientId, iat: now, exp: now + 60, nonce, ...claims };
    tamper?.(body);
    const alg = signed === "none" ? "none" : signed === "hmac" ? "HS256" : "ES256";
    const text = `${encoded({ alg, kid: "k1" })}.${encoded(body)}`;
    if (signed === "none") return `${text}.`;
    if (signed === "hmac")
      return `${text}.${createHmac("sha256", oidcClient.clientSecret).update(text).digest("base64url")}`;
    const key = (signed === "own" ? own : foreign).privateKey;
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, new TextEncoder().encode(text));
    return `${text}.${Buffer.from(signature).toString("base64url")}`;
  }

  const server: Bun.Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/.well-known/openid-configuration": (): Response =>
        Response.json({
          issuer: server.url.origin,
          authorization_endpoint: `${server.url.origin}/auth`,
          token_endpoint: `${server.url.origin}/token`,
          jwks_uri: `${server.url.origin}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["ES256"],
          code_challenge_methods_supported: ["S256"],
        }),
      "/jwks": () => Response.json({ keys: [jwk] }),
      "/token": { POST: token },
    },
    fetch: () => new Response(null, { status: 404 }),
  });

  return {
    url: server.url.origin,
    /** As if somebody had signed in at the address that the browser was sent to: what it brings back. */
    answer(address: string, told: Told): string {
      const asked = new URL(address).searchParams;
      const code = crypto.randomUUID();
      const [nonce, challenge] = [asked.get("nonce") ?? "", asked.get("code_challenge") ?? ""];
      codes.set(code, { told, nonce, challenge, redirect: asked.get("redirect_uri") ?? "" });
      return `?${new URLSearchParams({ code, state: asked.get("state") ?? "" })}`;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const newKey = () => crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
