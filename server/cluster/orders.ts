import { type NodeSeal, pathOf } from "./between-nodes.ts";

const header = "x-runnel-command";

/** What one who has the master key tells a leader. Nobody else is let to fill its memory: the body's hash is signed. */
export const isOrder = (request: Request): boolean => request.method === "POST" && request.headers.has(header);

/** The headers of an order with this body. */
export function sealOrder(seal: NodeSeal, path: string, body: string | Uint8Array): Record<string, string> {
  const hash = hashOf(body);
  return { [header]: `${hash}:${seal.sign({ peer: null, plain: false }, "POST", `${path}#${hash}`)}` };
}

/** The body of an order; null for one that was not signed, of which nothing is read. `once`: nor for one that has come before. */
export async function readOrder(request: Request, seal: NodeSeal, { once = false } = {}): Promise<Uint8Array | null> {
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
