import { type NodeSeal, pathOf } from "./node-auth.ts";

const header = "x-runnel-command";

/**
 * True for a command to a leader, signed with the master key. The signature covers the body's hash, so that an outsider
 * cannot fill the memory.
 */
export const isCommand = (request: Request): boolean => request.method === "POST" && request.headers.has(header);

/** Returns the headers of a command with this body. */
export function signCommand(seal: NodeSeal, path: string, body: string | Uint8Array): Record<string, string> {
  const hash = hashOf(body);
  return { [header]: `${hash}:${seal.sign({ peer: null, plain: false }, "POST", `${path}#${hash}`)}` };
}

/** Returns the body of a command; null if it is not signed, without reading it. `once` also refuses a repeated one. */
export async function readCommand(request: Request, seal: NodeSeal, { once = false } = {}): Promise<Uint8Array | null> {
  const [hash = "", sealed = ""] = request.headers.get(header)?.split(":") ?? [];
  const verify = once ? seal.verifyOnce : seal.verify;
  if (!verify(sealed, "POST", `${pathOf(request.url)}#${hash}`)) return null;
  const body = await request.bytes();
  return hashOf(body) === hash ? body : null;
}

export const unsigned = (): Response =>
  new Response("It was not signed with this cluster's RUNNEL_MASTER_KEY, or its clock is a minute off.", {
    status: 403,
  });

const hashOf = (body: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(body).digest("hex");
