import { pathOf } from "../cluster/between-nodes.ts";
import { bearer } from "../keys/authenticate.ts";
import { clientTokenMaker, isClientToken } from "../keys/client-tokens.ts";
import { environmentOf, hashSecret } from "../keys/secret.ts";
import type { Seal } from "../lib/seal.ts";

/** Which cell a request is for. */
export interface RequestTarget {
  /** By what its project is found: a name of `Routes` or the project's id. Null: it is of no project. */
  name: string | null;
  /** Whether it may come from somebody who is signed in, whom only the first cell knows; `alone`: it must. */
  people: boolean | "alone";
}

/** Null: any cell answers it. */
export function targetOf(request: Request, seal: Seal): RequestTarget | null {
  const path = pathOf(request.url).split("?", 1)[0]!;
  if (ofTheServer.has(path)) return null; // Also with a token, which is none of a project's.
  if (path.startsWith("/console/")) return { name: consoleProject.exec(path)?.[1] ?? null, people: "alone" };
  if (path.startsWith("/callbacks/")) return { name: callbackProject.exec(path)?.[1] ?? null, people: false };
  const agent = chatToken.exec(path)?.[1];
  if (agent !== undefined) return { name: agent, people: request.headers.has("cookie") };
  const secret = secretOf(request);
  if (secret === null) return null;
  return { name: isClientToken(secret) ? clientTokenMaker(secret, seal) : hashOf(secret), people: false };
}

/** Paths that are about the cell that a node leads. */
const ofTheServer = new Set(["/metrics", "/healthz", "/readyz"]);

const consoleProject = /^\/console\/api\/(?:projects\/)?(proj_[0-9a-z]+)(?:\/|$)/;
const callbackProject = /^\/callbacks\/[^/.]+\.[^/.]+\.[^/.]+\.(proj_[0-9a-z]+)$/;
const chatToken = /^\/chat\/(agt_[0-9a-z]+)\/token$/;

/** A key, or the token that stands in the address of what a browser reads. */
function secretOf({ headers, url }: Request): string | null {
  const authorization = headers.get("authorization");
  if (authorization !== null) return bearer(authorization);
  const token = url.includes("token=") ? new URL(url, "http://x").searchParams.get("token") : null;
  return token !== null && isClientToken(token) ? token : null;
}

/** Null for what is no key by its form: nobody has to be asked for that. */
const hashOf = (secret: string): string | null =>
  environmentOf(secret) && Buffer.from(hashSecret(secret)).toString("hex");
