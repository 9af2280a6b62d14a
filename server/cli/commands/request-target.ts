import type { Seal } from "../../lib/seal.ts";
import { textBefore } from "../../lib/text-before.ts";
import { bearer } from "../../resources/keys/authenticate.ts";
import { clientTokenMaker, isClientToken } from "../../resources/keys/client-tokens.ts";
import { environmentOf, hashSecret } from "../../resources/keys/secret.ts";
import { pathOf } from "../../storage/replication/node-auth.ts";

/** The routing key of a request. */
export interface RequestTarget {
  /** A name of `Routes` or a project id; null if the request has no project. */
  name: string | null;
  /** True if a signed-in person may have sent it, which only the first cell can check; `alone` if only a person may. */
  people: boolean | "alone";
}

/** Returns null if any cell can answer the request. */
export function targetOf(request: Request, seal: Seal): RequestTarget | null {
  const path = textBefore(pathOf(request.url), "?");
  if (serverPaths.has(path)) return null; // Even with a token, which belongs to no project here.
  if (path.startsWith("/console/")) return { name: consoleProject.exec(path)?.[1] ?? null, people: "alone" };
  if (path.startsWith("/callbacks/")) return { name: callbackProject.exec(path)?.[1] ?? null, people: false };
  if (path.startsWith("/oauth/consent/")) return { name: consentProject.exec(path)?.[1] ?? null, people: false };
  if (path.startsWith("/triggers/")) return { name: triggerProject.exec(path)?.[1] ?? null, people: false };
  if (path === "/oauth/callback") return { name: oauthProject.exec(request.url)?.[1] ?? null, people: false };
  const agent = chatToken.exec(path)?.[1];
  if (agent !== undefined) return { name: agent, people: request.headers.has("cookie") };
  const secret = secretOf(request);
  if (secret === null) return null;
  return { name: isClientToken(secret) ? clientTokenMaker(secret, seal) : hashOf(secret), people: false };
}

/** Paths that concern the cell that a node leads. */
const serverPaths = new Set(["/metrics", "/healthz", "/readyz"]);

const consoleProject = /^\/console\/api\/(?:projects\/)?(proj_[0-9a-z]+)(?:\/|$)/;
const callbackProject = /^\/callbacks\/[^/.]+\.[^/.]+\.[^/.]+\.(proj_[0-9a-z]+)$/;
const consentProject = /^\/oauth\/consent\/[^/.]+\.(?:[^/.]+\.[^/.]+\.)?(proj_[0-9a-z]+)$/;
const triggerProject = /^\/triggers\/[^/.]+\.(proj_[0-9a-z]+)$/;
const oauthProject = /[?&]state=[\w-]+\.(proj_[0-9a-z]+)(?:&|$)/;
const chatToken = /^\/chat\/(agt_[0-9a-z]+)\/token$/;

/** Returns the API key, or a client token in the URL of a browser's request. */
function secretOf({ headers, url }: Request): string | null {
  const authorization = headers.get("authorization");
  if (authorization !== null) return bearer(authorization);
  const token = url.includes("token=") ? new URL(url, "http://x").searchParams.get("token") : null;
  return token !== null && isClientToken(token) ? token : null;
}

/** Returns the hash of a key; null if it is malformed, so that no lookup is needed. */
const hashOf = (secret: string): string | null =>
  environmentOf(secret) && Buffer.from(hashSecret(secret)).toString("hex");
