import { createHmac } from "node:crypto";

/** Claims of a person, and the faults of the issuer's answer. */
export interface IssuerClaims {
  claims: Record<string, unknown>;
  /** Changes the claims of the id token. */
  tamper?: (claims: Record<string, unknown>) => void;
  /**
   * Signature of the id token: by the issuer, by another key with the same key id, none, or an HMAC with the client's
   * secret.
   */
  signed?: "own" | "foreign" | "none" | "hmac";
}

export const oidcClient = { clientId: "runnel", clientSecret: "the secret of the client" };

/**
 * Starts an OpenID Connect issuer on loopback, which signs in the people that a test names, and misbehaves on demand.
 */
export async function startIssuer() {
  const [own, foreign] = await Promise.all([newKey(), newKey()]);
  const jwk = { ...(await crypto.subtle.exportKey("jwk", own.publicKey)), kid: "k1", alg: "ES256", use: "sig" };
  const codes = new Map<string, { told: IssuerClaims; nonce: string; challenge: string; redirect: string }>();

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

  async function idToken({ claims, tamper, signed = "own" }: IssuerClaims, nonce: string): Promise<string> {
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
    /**
     * Signs a person in at the address that the browser was sent to, and returns the address that it is redirected to.
     */
    answer(address: string, told: IssuerClaims): string {
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
