import { expect, test } from "bun:test";
import type { SQL } from "bun";
import { silentLog } from "../../lib/log.ts";
import { createMoveStore } from "../../resources/projects/moves.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { createNodeSeal } from "../../storage/replication/node-auth.ts";
import { createConsentWorld } from "../../testing/consents.ts";
import { startOAuthServer } from "../../testing/oauth-server.ts";
import { rejection } from "../../testing/rejection.ts";
import { testActor } from "../../testing/test-actor.ts";
import { testApp } from "../../testing/test-app.ts";
import { createProjectMover } from "./project-mover.ts";

test.each([
  ["", (arrived: () => Promise<void>) => arrived()],
  [", even where what is unfinished in it is not taken up", () => Promise.reject(new Error("It is damaged."))],
])("a project that the other cell refuses is restored, and the lease covers that work too%s", async (_, arrive) => {
  await using server = testApp();
  const client = await server.client({ project: "shop" });
  await using east = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const isArrival = (await request.text()).startsWith("{");
      return Response.json(isArrival ? { is: "refused", why: "It is full." } : { is: "none" });
    },
  });
  const { db } = server;
  const moves = createMoveStore({ db, audit: createAudit({ db }) });
  // A Postgres that returns one row for every query.
  const sql = { unsafe: async () => [{ id: "found" }] } as unknown as SQL;
  const isIn = () => server.projects.byName("shop") !== null;
  const forgotten: boolean[] = [];
  const works: [lease_ms: number, before: boolean, after: boolean][] = [];
  const mover = createProjectMover({
    cells: ["main", "east"],
    own: "main",
    epoch: 1,
    version: 1,
    db,
    moves,
    log: silentLog,
    moving: { ...server.moving, onProjectArrived: () => arrive(server.moving.onProjectArrived) },
    seal: createNodeSeal(new Uint8Array(32)),
    directory: {
      ask: (work) => work(sql),
      findLeaderOf: async () => ({ address: east.url.origin, certificate: "" }),
      projects: async () => [],
      forget: () => void forgotten.push(isIn()),
    },
    ship: {
      async withLongLease(ms, work) {
        const before = isIn();
        const done = await work();
        works.push([ms, before, isIn()]);
        return done;
      },
    },
  });
  const project = server.projects.byName("shop")!;
  await expect(mover.move(project, "east", 1000, testActor)).rejects.toThrow("shop stays. It is full.");
  expect(works).toEqual([
    [expect.any(Number), true, false],
    [expect.any(Number), false, true],
  ]);
  // The cached lookups of its names are cleared before its rows are deleted.
  expect(forgotten[0]).toBe(true);
  for (const [ms] of works) expect(ms).toBeGreaterThanOrEqual(1000);
  expect((await client.get("/v1/me")).status).toBe(200);
});

test("a token that is being issued when its project moves is stored before the rows leave, and no other is requested", async () => {
  await using issuer = await startOAuthServer();
  let at = Date.now();
  issuer.now = () => at;
  await using server = testApp({ now: () => at });
  const client = await server.client({ project: "shop" });
  await using east = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const isArrival = (await request.text()).startsWith("{");
      return Response.json(isArrival ? { is: "refused", why: "It is full." } : { is: "none" });
    },
  });
  const world = createConsentWorld(server, client, issuer);
  const { id } = await world.oauthClient("GitHub");
  const asked = await client.post(`/v1/oauth_clients/${id}/authorize`, { user_id: "ada" });
  await world.consent(asked.body.url, "ada");
  at += 3_600_000;
  const [refreshing, answer, departing] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  issuer.before = () => {
    refreshing!.resolve();
    return answer!.promise;
  };
  const token = server.oauth.get(client.scope, id, "ada");
  await refreshing!.promise;
  const { db } = server;
  const sql = { unsafe: async () => [{ id: "found" }] } as unknown as SQL;
  const isIn = () => server.projects.byName("shop") !== null;
  const mover = createProjectMover({
    cells: ["main", "east"],
    own: "main",
    epoch: 1,
    version: 1,
    db,
    moves: createMoveStore({ db, audit: createAudit({ db }) }),
    log: silentLog,
    moving: {
      ...server.moving,
      depart(project) {
        const departed = server.moving.depart(project);
        departing!.resolve();
        return departed;
      },
    },
    seal: createNodeSeal(new Uint8Array(32)),
    directory: {
      ask: (work) => work(sql),
      findLeaderOf: async () => ({ address: east.url.origin, certificate: "" }),
      projects: async () => [],
      forget: () => {},
    },
    ship: { withLongLease: async (_, work) => work() },
  });
  const moved = rejection(mover.move(server.projects.byName("shop")!, "east", 1000, testActor));
  await departing!.promise;
  expect(isIn()).toBe(true);
  // A client that has no token yet.
  const own = await world.oauthClient("Own", { grant: "client_credentials", per_user: false });
  expect(await server.oauth.get(client.scope, own.id, null)).toMatchObject({ status: "failed", retryable: true });
  answer!.resolve();
  expect(await token).toMatchObject({ status: "ready" });
  expect(String(await moved)).toContain("shop stays. It is full.");
  expect(await server.oauth.get(client.scope, id, "ada")).toEqual(await token);
  expect(issuer.requests("refresh_token")).toBe(1);
  // It has come back, and so has the way to its issuers.
  expect(await server.oauth.get(client.scope, own.id, null)).toMatchObject({ status: "ready" });
});
