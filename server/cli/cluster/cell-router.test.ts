import { expect, test } from "bun:test";
import { withDotSegmentDetection } from "../../http/dot-segments.ts";
import { createSeal } from "../../lib/seal.ts";
import { mintSecret } from "../../resources/keys/secret.ts";
import type { Directory } from "../../storage/replication/directory.ts";
import { createNodeSeal, type NodeSeal, type Person } from "../../storage/replication/node-auth.ts";
import { rawAsk } from "../../testing/raw-ask.ts";
import type { Handle } from "../serve/listener.ts";
import { type CellRouter, createCellRouter } from "./cell-router.ts";

test("a request for a project that has just moved follows it, although a lookup still returns the old cell", async () => {
  await using east = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("from east") });
  const masterKey = new Uint8Array(32);
  // A lookup that was sent before the project left still returns its old cell.
  const find: Directory["find"] = async (_, fresh) => ({ project: "proj_1", cell: fresh ? "east" : "main" });
  const { ofLeader } = createCellRouter({
    cells: ["main", "east"],
    directory: {
      find,
      leaderOf: () => ({ address: east.url.origin, certificate: "" }),
      findLeaderOf: async () => ({ address: east.url.origin, certificate: "" }),
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
    staysSignedIn: () => false,
    sure: async () => {},
  });
  const headers = { authorization: `Bearer ${mintSecret("test")}` };
  const answer = await lead(new Request("http://main.test/v1/me", { headers }));
  expect([answer.status, await answer.text()]).toEqual([200, "from east"]);
});

/** Starts the leaders of the cells "main" and "east", and a spare. Each response names its cell. */
function threeNodes({ person = null as Person | null, project = "proj_1", naming = "" } = {}) {
  const masterKey = new Uint8Array(32);
  const stack = new DisposableStack();
  const addresses = new Map<string, string>();
  const peers = { peerOf: () => "127.0.0.1", isPlain: () => false };
  function node(name: string, handleBy: (router: CellRouter, seal: NodeSeal) => Handle): string {
    const seal = createNodeSeal(masterKey);
    const router = createCellRouter({
      cells: ["main", "east"],
      directory: {
        find: async () => ({ project, cell: "east" }),
        leaderOf: (cell) => ({ address: addresses.get(cell)!, certificate: "" }),
        findLeaderOf: async (cell) => ({ address: addresses.get(cell)!, certificate: "" }),
        forget() {},
      } as Partial<Directory> as Directory,
      seal,
      tokens: createSeal(masterKey),
      entrance: peers,
      publicUrl: () => "http://runnel.test",
    });
    const fetch = withDotSegmentDetection(handleBy(router, seal));
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 30, ...fetch });
    stack.defer(() => void server.stop(true));
    addresses.set(name, server.url.origin);
    return server.url.origin;
  }
  const leader = (cell: string) =>
    node(cell, (router, seal) => {
      const personOf = (request: Request) => seal.originOf(request)?.person ?? (cell === "main" ? person : null);
      return router.ofLeader({
        cell,
        routes: { projectOf: () => (cell === "east" ? project : null), has: () => cell === "east" },
        handle: async (request) =>
          request.method === "OPTIONS"
            ? new Response(null, { status: cell === naming ? 204 : 403, headers: { "x-cell": cell } })
            : new Response(`${cell}, for ${personOf(request)?.id ?? "nobody"}`),
        mover: { over: () => null, enter: () => () => {} },
        personOf,
        staysSignedIn: () => true,
        sure: async () => {},
      });
    });
  const nodes = [leader("main"), leader("east"), node("spare", (router) => router.ofSpare)];
  return {
    /** Returns the response of each node. */
    ask: (path: string, init: RequestInit) =>
      Promise.all(nodes.map(async (url) => await (await fetch(`${url}${path}`, init)).text())),
    statuses: (path: string, init: RequestInit) =>
      Promise.all(nodes.map(async (url) => (await fetch(`${url}${path}`, init)).status)),
    /** Returns a node's response to a request that is sent unchanged. */
    askRaw: (name: string, target: string, more: Partial<Parameters<typeof rawAsk>[1]> = {}) =>
      rawAsk(Number(new URL(addresses.get(name)!).port), { method: "GET", target, ...more }),
    [Symbol.dispose]: () => stack.dispose(),
  };
}

test.each([
  ["a visitor who comes back", null, "east, for nobody"],
  ["a member", { id: "usr_1", email: "ada@example.com", role: "member" } as Person, "east, for usr_1"],
])("%s finds the chat page of any cell through any node", async (_, person, expected) => {
  using nodes = threeNodes({ person });
  const cookie = person ? "runnel_session=s" : "runnel_visitor=v";
  const answers = await nodes.ask("/chat/agt_1/token", { method: "POST", headers: { cookie }, body: "{}" });
  expect(answers).toEqual([expected, expected, expected]);
});

test("the cell that has the accounts refuses requests for a project of the dashboard without a session", async () => {
  using nodes = threeNodes();
  const refused = "main, for nobody";
  expect(await nodes.ask("/console/api/proj_1/test/runs", {})).toEqual([refused, refused, refused]);
});

test.each([
  ["main", 204],
  ["east", 204],
  ["none", 403],
])("a CORS preflight from an origin that a project of %s allows gets %i from any node", async (naming, status) => {
  using nodes = threeNodes({ naming });
  const headers = { origin: "https://shop.test", "access-control-request-method": "POST" };
  expect(await nodes.statuses("/v1/runs", { method: "OPTIONS", headers })).toEqual([status, status, status]);
});

test("a target with a dot segment is not passed on to another node, which would see another URL", async () => {
  const person = { id: "usr_1", email: "ada@example.com", role: "member" } as Person;
  using nodes = threeNodes({ person });
  const path = "/console/api/proj_1/test/runs";
  expect((await nodes.askRaw("main", path)).text).toBe("east, for usr_1");
  for (const target of [`${path}/..`, `${path}/%2e%2e/agents`])
    expect((await nodes.askRaw("main", target)).text).toBe("main, for usr_1");
});

test("a client that stops sending its body gets a 408 from the node that it called", async () => {
  using nodes = threeNodes();
  const silent = { method: "POST", headers: { "content-length": "9", connection: "keep-alive" }, body: "{" };
  const { status, head, text } = await nodes.askRaw("spare", "/v1/runs", silent);
  expect([status, JSON.parse(text).error.code]).toEqual([408, "body_timeout"]);
  expect(head).toContain("connection: close");
}, 60_000);
