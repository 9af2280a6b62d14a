import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAgent, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { startToolServer, type ToolServer } from "./tool-server.ts";

// Whatever models and tools do, a run ends, and reports why.
let model: ModelServer;
let tools: ToolServer;
let server: Runnel;

beforeAll(async () => {
  model = startModelServer();
  tools = startToolServer();
  server = await startRunnel({ environment: stubConnection(model.url) });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await tools[Symbol.asyncDispose]();
});

describe("a model that", () => {
  const cases: [name: string, code: string][] = [
    ["fails-500", "model_error"],
    ["fails-429", "model_rate_limited"],
    ["fails-401", "model_not_available"],
    ["lies-html", "model_error"],
    ["lies-garbage", "model_error"],
    ["lies-empty", "model_incomplete"],
    ["cuts-off", "model_error"],
  ];

  test.concurrent.each(cases)("%s ends the run as %s", async (name, code) => {
    const run = await runToEnd(server, await createAgent(server, name));
    expect(run).toMatchObject({ status: "failed", error: { type: "run_error", code } });
    expect(JSON.stringify(run)).not.toContain("sk-secret");
    expect(run.usage.model_calls).toBeGreaterThan(0);
  });

  test("never answers is abandoned when the run's time is up, and its request ends", async () => {
    const agent_id = await createAgent(server, "never-answers");
    const run = await runToEnd(server, agent_id, { timeout_ms: 8000 });
    expect(run).toMatchObject({ status: "failed", error: { code: "run_timeout" } });
    await model.requests.findLast((request) => request.model === "never-answers")!.aborted;
  });

  test("asks for 300 tools at once gets each of them answered", async () => {
    const tool = await createTool(server, { url: `${tools.url}/many` });
    const run = await runToEnd(server, await createAgent(server, "tools-300", { tools: [tool.id] }));
    expect(run).toMatchObject({ status: "completed", output: "I read 300 results." });
    expect(tools.callsOf("/many")).toHaveLength(300);
    for (const times of tools.countsByKey("/many").values()) expect(times).toBe(1);
  });
});

describe("a tool that", () => {
  const cases: [path: string, code: string][] = [
    ["/fails", "http_error"],
    ["/garbage", "invalid_response"],
    ["/page", "invalid_response"],
    ["/huge", "output_too_large"],
    ["/metadata", "address_forbidden"],
    ["/plain", "scheme_forbidden"],
    ["/loop", "too_many_redirects"],
  ];
  const unheard: [path: string, code: string, timeout_ms: number][] = [
    ["/cut", "connection_lost", 30_000],
    ["/silent", "timeout", 1000],
  ];

  const redirects = new Set(["/metadata", "/plain", "/loop"]);

  test.concurrent.each(cases)("%s results in an error that the model reads (%s)", async (path, code) => {
    const method = redirects.has(path) ? "GET" : "POST"; // A redirected POST is an error wherever it points.
    const tool = await createTool(server, { url: `${tools.url}${path}`, method });
    const run = await runToEnd(server, await createAgent(server, "turns-0", { tools: [tool.id] }));
    expect(run).toMatchObject({ status: "completed", output: "I read 1 results." });
    expect(run.tool_calls[0]).toMatchObject({ status: "failed", output: null, error: { code } });
    expect(run.tool_calls[0].error.message.length).toBeLessThan(2000);
  });

  test.concurrent.each(unheard)(
    "%s may have executed: it fails (%s) only if it is idempotent",
    async (path, code, timeout_ms) => {
      const call = async (more: object) => {
        const tool = await createTool(server, { url: `${tools.url}${path}`, timeout_ms, ...more });
        const run = await runToEnd(server, await createAgent(server, "turns-0", { tools: [tool.id] }));
        return run.tool_calls[0];
      };
      expect(await call({ idempotent: true })).toMatchObject({ status: "failed", error: { code } });
      expect(await call({ on_unknown: "report" })).toMatchObject({
        status: "unknown",
        error: { code: "outcome_unknown" },
      });
    },
  );

  test("has no listener results in an error that the model reads", async () => {
    await using gone = startToolServer();
    const tool = await createTool(server, { url: `${gone.url}/weather` });
    await gone[Symbol.asyncDispose]();
    const run = await runToEnd(server, await createAgent(server, "turns-0", { tools: [tool.id] }));
    expect(run.tool_calls[0]).toMatchObject({ status: "failed", error: { code: "connect_failed" } });
  });

  test("writes far too much text is cut, and the run continues", async () => {
    const tool = await createTool(server, { url: `${tools.url}/huge`, response: "text", max_output_bytes: 1000 });
    const run = await runToEnd(server, await createAgent(server, "turns-0", { tools: [tool.id] }));
    expect(run.status).toBe("completed");
    expect(run.tool_calls[0].output.length).toBeLessThan(1100);
  });

  test("points to a private or metadata address is refused on creation", async () => {
    const addresses = [
      "https://169.254.169.254/",
      "https://10.0.0.1/",
      "https://[::ffff:169.254.169.254]/",
      "https://2852039166/",
    ];
    for (const url of addresses) {
      const answer = await server.post("/v1/tools", { name: "inward", parameters: { type: "object" }, url });
      expect({ url, ...outcome(answer) }).toEqual({ url, status: 403, code: "url_not_allowed" });
    }
  });

  test("is on loopback is not reached by a live agent", async () => {
    const body = { name: "inward", description: "", parameters: { type: "object" }, url: `${tools.url}/weather` };
    expect(outcome(await server.post("/v1/tools", body, server.keys.live))).toEqual({
      status: 403,
      code: "url_not_allowed",
    });
  });
});

const outcome = ({ status, body }: { status: number; body: Json }) => ({ status, code: body.error?.code });
