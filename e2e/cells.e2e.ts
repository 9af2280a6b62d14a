import { describe, expect, test } from "bun:test";
import { sqlAt, startPostgres } from "../server/testing/postgres.ts";
import { type Cluster, startCluster } from "./cluster/nodes.ts";
import { ask, bothLed, cleaned, command, post, requestWithRetry } from "./cluster/requests.ts";
import { type Json, runCommand } from "./harness.ts";
import { patience_ms, waitUntil } from "./until.ts";

/** Signs in at the dashboard through any node. */
async function signIn(cluster: Cluster, url: string) {
  await command(cluster, ["admin", "create", "ada@example.com"], { RUNNEL_PASSWORD: "a long passphrase" });
  let cookie = "";
  async function request(at: string, path: string, body?: object, method = body ? "POST" : "GET"): Promise<Json> {
    const headers = {
      authorization: "",
      cookie,
      origin: at,
      "x-runnel-console": "1",
      "content-type": "application/json",
    };
    const answer = await requestWithRetry(at, path, "", {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return { status: answer.status, body: await answer.json() };
  }
  const signedIn = await request(url, "/console/api/login", {
    email: "ada@example.com",
    password: "a long passphrase",
  });
  expect(signedIn.status).toBe(200);
  return Object.assign(request, {
    cookie: () => cookie,
    /** Follows an event stream to its end. */
    follow: async (at: string, path: string) =>
      await fetch(`${at}${path}`, { headers: { cookie, accept: "text/event-stream", "x-runnel-console": "1" } }),
  });
}

/** An empty object store that records its requests. */
function startStore() {
  const lookedFor = new Set<string>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      lookedFor.add(new URL(url).searchParams.get("prefix") ?? "");
      return new Response(null, { status: 503 });
    },
  });
  return { url: server.url.origin, lookedFor, [Symbol.dispose]: () => void server.stop(true) };
}

describe.if(startPostgres.orSkipped("cells of one cluster"))("several cells at one address", () => {
  test("any node serves any request and the console shows all projects, also after a leader died", async () => {
    using store = startStore();
    const environment = {
      RUNNEL_BACKUP_TO: "s3://backups/acme",
      AWS_ENDPOINT_URL: store.url,
      AWS_ACCESS_KEY_ID: "id",
      AWS_SECRET_ACCESS_KEY: "secret",
    };
    await using cluster = await startCluster({ nodes: 3, cell: "main,east", environment, lease_s: 15 });
    const { main, east, spare } = await bothLed(cluster);
    const everywhere = [main, east, spare];
    const request = await signIn(cluster, spare);

    // The first project is in the first cell, so the new one goes to the emptier cell.
    const { body: shop } = await request(spare, "/console/api/projects", { name: "shop" });
    const rows = await sqlAt(cluster.engine(), "SELECT cell, name FROM runnel_projects ORDER BY name");
    expect(rows).toEqual([
      { cell: "main", name: "default" },
      { cell: "east", name: "shop" },
    ]);
    const key = await command(cluster, ["keys", "create", "--project", "shop"]);
    const projectsOf = (secret: string) =>
      Promise.all(everywhere.map(async (url) => (await ask(url, "/v1/me", secret)).project));
    expect(await projectsOf(key)).toEqual(["shop", "shop", "shop"]);
    expect(await projectsOf(cluster.keys.test)).toEqual(["default", "default", "default"]);
    const unknown = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;
    const statuses = (secret: string) =>
      Promise.all(everywhere.map(async (url) => (await requestWithRetry(url, "/v1/me", secret)).status));
    expect(await statuses(unknown)).toEqual([401, 401, 401]);

    // Streams through a node that leads the other cell, and through one that leads none.
    const agent = await post(main, "/v1/agents", key, { name: "a", instructions: "Say.", model: "test/echo" });
    const run = await post(spare, "/v1/runs?wait=60", key, { agent_id: agent.id, input: "hello" });
    expect(run).toMatchObject({ status: "completed", output: "hello" });
    const streams = await Promise.all(
      everywhere.map((url) => ask(url, `/v1/runs/${run.id}/events`, key, { headers: { accept: "text/event-stream" } })),
    );
    expect(streams[0]).toContain("event: run.completed");
    expect(new Set(streams).size).toBe(1);
    const { token } = await post(main, "/v1/client_tokens", key, {
      agent_id: agent.id,
      scopes: ["run"],
      expires_in_seconds: 600,
    });
    expect((await post(main, "/v1/runs?wait=60", token, { agent_id: agent.id, input: "by a token" })).output).toBe(
      "by a token",
    );

    // A chat page, for a new visitor and for a returning one.
    const page = await ask(main, `/v1/agents/${agent.id}/chat_page`, key, {
      method: "PUT",
      body: JSON.stringify({ access: "link" }),
    });
    const visit = (url: string, cookie: string) =>
      requestWithRetry(url, `/chat/${agent.id}/token`, "", {
        method: "POST",
        body: JSON.stringify({ secret: new URL(page.url).hash.slice(1) }),
        headers: { authorization: "", cookie },
      });
    for (const url of everywhere) {
      const first = await visit(url, "");
      const again = await visit(url, first.headers.get("set-cookie")!.split(";")[0]!);
      expect([first.status, again.status, again.headers.get("set-cookie")]).toEqual([200, 200, null]);
    }

    // A CORS preflight names no project.
    await command(cluster, ["projects", "origins", "shop", "--origins", "https://shop.test"]);
    const headers = { origin: "https://shop.test", "access-control-request-method": "POST" };
    const told = everywhere.map(async (url) => (await fetch(`${url}/v1/runs`, { method: "OPTIONS", headers })).status);
    expect(await Promise.all(told)).toEqual([204, 204, 204]);

    // Each cell looks for its own backups.
    await waitUntil(() => ["acme/runnel-", "acme/east/runnel-"].every((prefix) => store.lookedFor.has(prefix)));

    // A server-wide setting reaches every cell.
    const model = ["models", "add", "local", "--base-url", "http://127.0.0.1:1/v1"];
    await command(cluster, model);
    await waitUntil(async () => {
      const priced = ["models", "prices", "set", "openai_compatible/local/m", "--input", "1", "--output", "2"];
      await command(cluster, priced);
      const { data } = await ask(east, "/v1/models", key);
      return data.some(({ id, available }: Json) => id === "openai_compatible/local/m" && available);
    });

    for (const url of everywhere) {
      const { body: session } = await request(url, "/console/api/session");
      expect(session.projects.map(({ name }: Json) => name).sort()).toEqual(["default", "shop"]);
      const { body: projects } = await request(url, "/console/api/projects");
      expect(projects.data.map(({ name }: Json) => name).sort()).toEqual(["default", "shop"]);
      const { body: runs } = await request(url, `/console/api/${shop.id}/test/runs`);
      expect(runs.data.map(({ id }: Json) => id)).toContain(run.id);
    }
    const renamed = await request(east, `/console/api/projects/${shop.id}`, { name: "store" }, "PATCH");
    expect(renamed).toMatchObject({ status: 200, body: { name: "store" } });
    expect((await fetch(`${main}/console/api/${shop.id}/test/runs`)).status).toBe(401);
    const status = JSON.parse(
      (await runCommand(["cluster", "status", "--cluster", cluster.url, "--json"], { env: cleaned() })).stdout,
    );
    expect(status.cells.map(({ cell, projects }: Json) => [cell, projects.map(({ name }: Json) => name)])).toEqual([
      ["east", ["store"]],
      ["main", ["default"]],
    ]);

    const { data: listed } = JSON.parse(await command(cluster, ["projects", "list", "--json"]));
    expect(listed.map(({ cell, name }: Json) => [cell, name])).toEqual([
      ["main", "default"],
      ["east", "store"],
    ]);
    expect(await command(cluster, ["projects", "list"])).toMatch(
      /ID +NAME +CELL .*\n.* default +main .*\n.* store +east /,
    );

    // Every node returns the same to keys and to sessions.
    const { paths } = await ask(main, "/v1/openapi.json", key);
    const readable = Object.entries<Json>(paths).flatMap(([path, { get }]) =>
      get && path.startsWith("/v1/")
        ? [path.replace("/runs/{id}", `/runs/${run.id}`).replace("/agents/{id}", `/agents/${agent.id}`)]
        : [],
    );
    expect(readable.length).toBeGreaterThan(40);
    const asPerson = (path: string) => path.replace("/v1/", `/console/api/${shop.id}/test/`);
    for (const path of [...readable, ...readable.map(asPerson)]) {
      const told = everywhere.map(async (url) => {
        const signal = AbortSignal.timeout(patience_ms);
        const headers: Record<string, string> = path.startsWith("/v1/")
          ? { authorization: `Bearer ${key}` }
          : { cookie: request.cookie(), "x-runnel-console": "1" };
        const answer = await fetch(`${url}${path.replaceAll(/\{\w+\}/g, "none")}`, { headers, signal });
        const said: Json = answer.headers.get("content-type")?.startsWith("application/json") && (await answer.json());
        await answer.body?.cancel().catch(() => {});
        return [path, answer.status, said?.object, said?.id, said?.error?.code, said?.data?.length];
      });
      const [first, ...others] = await Promise.all(told);
      expect(others).toEqual([first!, first!]);
    }

    // Signing out ends the session's reads, also from another cell.
    const model_settings = { script: [{ text: "word ".repeat(3000), delta_ms: 50 }] };
    const long = await post(main, "/v1/agents", key, {
      name: "b",
      instructions: "",
      model: "test/script",
      model_settings,
    });
    const live = await post(main, "/v1/runs", key, { agent_id: long.id, input: "Go." });
    const followed = await request.follow(spare, `/console/api/${shop.id}/test/runs/${live.id}/events`);
    expect(followed.status).toBe(200);
    const reader = followed.body!.pipeThrough(new TextDecoderStream()).getReader();
    let read = "";
    const readUntil = async (isEnough: () => boolean) => {
      for (let { done, value } = await reader.read(); ; { done, value } = await reader.read()) {
        read += value ?? "";
        if (done || isEnough()) return;
      }
    };
    // The session is checked twice a second; a token arrives 20 times a second.
    await readUntil(() => read.split("event: token").length > 40);
    expect(read).not.toContain("missing_session");
    expect((await request(main, "/console/api/logout", {})).status).toBeLessThan(300);
    await readUntil(() => false);
    expect(read).toContain('"missing_session"');
    await post(main, `/v1/runs/${live.id}/cancel`, key, {});

    const dying = await cluster.leader("east");
    dying.child.kill("SIGKILL");
    await dying.child.exited;
    await waitUntil(async () => (await statuses(key).catch(() => [])).every((code) => code === 200));
    expect((await ask(main, `/v1/runs/${run.id}`, key)).output).toBe("hello");

    await command(cluster, ["keys", "create", "--project", "store", "--name", "another"]);
    const { data: keys } = JSON.parse(await command(cluster, ["keys", "list", "--project", "store", "--json"]));
    await command(cluster, ["keys", "revoke", keys.find(({ name }: Json) => name === "cli").id]);
    expect(await statuses(key)).toEqual([401, 401, 401]);
  }, 180_000);

  test("two clusters in one Postgres are separated by their names", async () => {
    await using postgres = await startPostgres();
    await using one = await startCluster({ postgres, cell: "one", nodes: 2, lease_s: 15 });
    await using two = await startCluster({ postgres, cell: "two", nodes: 1, lease_s: 30 });
    const statuses = (of: Cluster, key: string) =>
      Promise.all(of.nodes.map(async ({ url }) => (await requestWithRetry(url, "/v1/me", key)).status));
    for (const cluster of [one, two]) await command(cluster, ["projects", "create", "shop"]);
    expect(await statuses(one, two.keys.test)).toEqual([401, 401]);
    expect(await statuses(two, one.keys.test)).toEqual([401]);
    const status = async () =>
      JSON.parse(
        (await runCommand(["cluster", "status", "--cluster", postgres.url, "--json"], { env: cleaned() })).stdout,
      ).cells;
    const [ofOne, ofTwo] = await status();
    expect([ofOne, ofTwo].map(({ cell, projects }: Json) => [cell, projects.map(({ name }: Json) => name)])).toEqual([
      ["one", ["default", "shop"]],
      ["two", ["default", "shop"]],
    ]);

    const dying = await one.leader();
    dying.child.kill("SIGKILL");
    await dying.child.exited;
    await waitUntil(async () => (await status())[0].epoch > ofOne.epoch);
    await one.serves();
    expect((await status())[1]).toMatchObject({ cell: "two", leader: ofTwo.leader, epoch: ofTwo.epoch });
    expect(await statuses(two, two.keys.test)).toEqual([200]);
  }, 180_000);
});
