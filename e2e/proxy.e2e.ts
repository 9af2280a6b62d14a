import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createAgent, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Runnel, runCommand, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startObjectStore } from "./object-store.ts";
import { startRecordingProxy } from "./recording-proxy.ts";
import { startToolServer } from "./tool-server.ts";
import { waitUntil } from "./until.ts";

// One rule for the server and for commands: requests to this machine go directly, the rest through the operator's proxy
// if there is one. The environment's proxies are ignored.

const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
const named = (url: string) => ({
  ...Object.fromEntries(names.map((name) => [name, url])),
  NO_PROXY: "",
  no_proxy: "",
});
const store = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };

/** Runs commands of every kind that uses a network, on the server's own machine. */
async function everyCommand(server: Runnel, agent: string, env: Record<string, string>): Promise<void> {
  const at = ["--data-dir", server.dataDir];
  const runnel = async (args: string[]) => {
    const ended = await runCommand(args, {
      env: { PATH: process.env.PATH!, RUNNEL_API_KEY: server.keys.test, ...env },
    });
    expect({ args, ...ended }).toMatchObject({ args, code: 0 });
    return ended.stdout;
  };
  expect(await runnel(["health", ...at])).toContain("ready");
  expect(await runnel(["health", "--url", server.url, ...at])).toContain("ready");
  const { id } = JSON.parse(await runnel(["run", agent, "Hello", "--json", ...at]));
  await runnel(["trace", id, ...at]);
  await runnel(["top", "--json", ...at]);
  await runnel(["models", "list", ...at]);
  await runnel(["backup", "--to", "s3://bucket/f", ...at]);
  await runnel(["backup", "verify", "s3://bucket/f"]);
  await runnel([
    "restore",
    "--from",
    "s3://bucket/f",
    "--data-dir",
    join(server.folder, `copy-${crypto.randomUUID()}`),
  ]);
}

test("the proxies of the environment see no command and nothing of the server", async () => {
  using proxy = await startRecordingProxy();
  using objects = startObjectStore();
  await using model = startModelServer();
  const environment = { ...named(proxy.url), ...store, AWS_ENDPOINT_URL: `http://127.0.0.1:${objects.port}` };
  await using server = await startRunnel({ environment: { ...environment, ...stubConnection(model.url) } });
  const agent = await createAgent(server, "words-3-0");
  await everyCommand(server, agent, environment);
  expect(objects.names()).toHaveLength(1);
  // A command for another machine goes there directly as well.
  const away = await runCommand(["health", "--url", "https://runnel.invalid"], {
    env: { PATH: process.env.PATH!, ...environment },
  });
  expect(away.code).toBe(1);
  expect(proxy.take()).toEqual([]);
}, 180_000);

test("the operator's proxy gets the requests to other machines, of commands and of the server, and no others", async () => {
  await using model = startModelServer();
  await using tools = startToolServer();
  using objects = startObjectStore();
  using others = await startRecordingProxy();
  using proxy = await startRecordingProxy({
    "models.example:80": Number(new URL(model.url).port),
    "10.11.12.13:8080": Number(new URL(tools.url).port),
    "store.example:80": objects.port,
  });
  const operators = {
    RUNNEL_PROXY: proxy.url.replace("//", "//user:hush-hush@"),
    NO_PROXY: "direct.invalid,10.11.12.14",
  };
  const environment = {
    ...named(others.url),
    no_proxy: operators.NO_PROXY,
    ...operators,
    ...store,
    AWS_ENDPOINT_URL: "http://store.example",
    ...stubConnection("http://models.example/v1"),
  };
  for (const workers of ["0", "1"]) {
    const flags = [
      "--workers",
      workers,
      "--egress-allow",
      "10.11.12.0/24",
      "--otlp-endpoint",
      "http://collector.example:4318",
    ];
    await using server = await startRunnel({ environment, flags });
    const tool = await createTool(server, { type: "http", url: "http://10.11.12.13:8080/weather" });
    const called = await server.post(`/v1/tools/${tool.id}/test`, { arguments: { city: "Oslo" } });
    expect(called.body).toMatchObject({ error: null, output: { sky: "clear" } });
    const refused = await server.post("/v1/tools", {
      name: "far",
      type: "http",
      description: "Far.",
      url: "http://10.99.0.1/",
    });
    expect(refused.body.error.code).toBe("url_not_allowed");
    const hook = { url: "https://10.11.12.13/hook", events: ["run.completed"] };
    expect((await server.post("/v1/webhooks", hook)).status).toBe(201);
    const agent = await createAgent(server, "turns-0", { tools: [tool.id] });
    expect(await runToEnd(server, agent)).toMatchObject({ status: "completed" });
    const seen = new Set<string>();
    await waitUntil(() => {
      for (const one of proxy.take()) seen.add(one);
      return ["CONNECT 10.11.12.13:443", "POST http://collector.example:4318/v1/traces"].every((one) => seen.has(one));
    });
    expect([...seen].sort()).toEqual([
      "CONNECT 10.11.12.13:443",
      "POST http://10.11.12.13:8080/weather",
      "POST http://collector.example:4318/v1/traces",
      "POST http://models.example:80/v1/chat/completions",
    ]);
    expect(server.log()).not.toContain("hush-hush");
  }
  await using server = await startRunnel({ environment });
  const agent = await createAgent(server, "words-3-0");
  // More than one part of a multipart upload.
  const form = new FormData();
  form.append("purpose", "attachment");
  form.append("file", new File([randomBytes(12_000_000)], "random.bin"));
  expect((await server.fetch("/v1/files", { method: "POST", body: form })).status).toBe(201);
  proxy.take();
  await everyCommand(server, agent, environment);
  const asked = proxy.take();
  expect(asked.filter((one) => !/^(GET|PUT|POST|HEAD) http:\/\/store\.example:80\/bucket/.test(one))).toEqual([
    "POST http://models.example:80/v1/chat/completions",
    // `models list` reads the server's list, which this one does not have at either address.
    "GET http://models.example:80/v1/models",
    "GET http://models.example:80/models",
  ]);
  expect(new Set(asked.map((one) => one.split(" ")[0]))).toEqual(new Set(["GET", "PUT", "POST", "HEAD"]));
  expect(objects.names()).toHaveLength(1);
  const health = (url: string, more: Record<string, string> = {}) =>
    runCommand(["health", "--url", url], { env: { PATH: process.env.PATH!, ...environment, ...more } });
  expect((await health("https://runnel.invalid")).code).toBe(1);
  expect((await health("https://direct.invalid")).code).toBe(1);
  expect(proxy.take()).toEqual(["CONNECT runnel.invalid:443"]);
  const issuer = { RUNNEL_OIDC_ISSUER: "https://issuer.example", RUNNEL_OIDC_CLIENT_ID: "runnel" };
  const doctor = ["doctor", "--data-dir", server.dataDir];
  await runCommand(doctor, {
    env: { PATH: process.env.PATH!, ...environment, ...issuer, RUNNEL_OIDC_CLIENT_SECRET: "secret" },
  });
  expect(proxy.take()).toContain("CONNECT issuer.example:443");
  const socks = { RUNNEL_PROXY: "socks5://user:hush-hush@proxy.example:1080" };
  const { code, stderr } = await health("https://runnel.invalid", socks);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--proxy takes the address of an HTTP proxy")]);
  expect(stderr.includes("hush-hush")).toBe(false);
  expect(others.take()).toEqual([]);
}, 180_000);
