import { expect, test } from "bun:test";
import { createNodeSeal } from "../cluster/between-nodes.ts";
import type { Directory } from "../cluster/directory.ts";
import { mintSecret } from "../keys/secret.ts";
import { createSeal } from "../lib/seal.ts";
import { createCellRouter } from "./cell-router.ts";

test("a request for a project that has just left goes after it, also where its old place was being looked up meanwhile", async () => {
  await using east = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("from east") });
  const masterKey = new Uint8Array(32);
  // What was asked before the project left, and is answered after.
  const find: Directory["find"] = async (_, fresh) => ({ project: "proj_1", cell: fresh ? "east" : "main" });
  const { ofLeader } = createCellRouter({
    cells: ["main", "east"],
    directory: {
      find,
      leaderOf: () => ({ address: east.url.origin, certificate: "" }),
    } as Partial<Directory> as Directory,
    seal: createNodeSeal(masterKey),
    tokens: createSeal(masterKey),
    entrance: { peerOf: () => "127.0.0.1", isPlain: () => false },
    publicUrl: () => east.url.origin,
  });
  const lead = ofLeader({
    cell: "main",
    routes: { projectOf: () => null, has: () => false },
    handle: async () => new Response("There is no such key.", { status: 401 }),
    mover: { over: () => null, enter: () => () => {} },
    personOf: () => null,
    sure: async () => {},
  });
  const headers = { authorization: `Bearer ${mintSecret("test")}` };
  const answer = await lead(new Request("http://main.test/v1/me", { headers }));
  expect([answer.status, await answer.text()]).toEqual([200, "from east"]);
});
