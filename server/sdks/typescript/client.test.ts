import { describe, expect, test } from "bun:test";
import { Client, type Fetch, queryText } from "./client.ts";
import { APIConnectionError, APITimeoutError, CertificateError } from "./errors.ts";
import { List, type Page } from "./list.ts";
import { type AnyEvent, RunStream } from "./run-stream.ts";
import { RunsBase } from "./runs.ts";
import { type FunctionTool, tool } from "./tool.ts";
import { type AnswerOptions, createAnswerer, type EndedRun } from "./tool-calls.ts";
import { ToolsBase } from "./tools.ts";

/** A client whose requests `answer` answers, and the recorded requests. */
function clientOf(answer: (url: URL, init: RequestInit, index: number) => Response | Promise<Response>) {
  const asked: { method: string; url: URL; headers: Record<string, string>; body: unknown }[] = [];
  const fetch: Fetch = async (address, init) => {
    const url = new URL(address);
    asked.push({ method: init.method!, url, headers: init.headers as Record<string, string>, body: init.body });
    return await answer(url, init, asked.length - 1);
  };
  return { client: new Client({ baseUrl: "https://runnel.example/v1/", apiKey: "sk_test_1", fetch }), asked };
}

const soon = (status: number): Response => Response.json({}, { status, headers: { "retry-after": "0" } });

test("a query omits undefined values, and writes objects and lists as the API reads them", () => {
  expect(queryText(undefined)).toBe("");
  expect(queryText({ limit: undefined })).toBe("");
  const query = { limit: 2, files: false, "created_at[gt]": "2026-01-01", metadata: { "a b": "c&d" }, ids: ["x", "y"] };
  expect(decodeURIComponent(queryText(query))).toBe(
    "?limit=2&files=false&created_at[gt]=2026-01-01&metadata[a+b]=c&d&ids=x,y",
  );
});

describe("a request", () => {
  test("is sent, and its response read, with all digits of a long integer", async () => {
    const json = '{"value":2512292042121000001}';
    const { client, asked } = clientOf(() => new Response(json));
    const value = 2512292042121000001n;
    expect(await client.json<object>("PUT", "/v1/memory/mem_1/keys/k", { body: { value } })).toEqual({ value });
    expect(asked[0]!.body).toBe(json);
  });

  test("has one key for all attempts if it is a POST, and none otherwise", async () => {
    const { client, asked } = clientOf((_, __, index) => (index === 0 ? soon(503) : Response.json({ id: "agt_1" })));
    expect(await client.json<object>("POST", "/v1/agents", { body: { name: "Weather" } })).toEqual({ id: "agt_1" });
    const [first, second] = asked;
    expect(first!.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(second!.headers).toEqual(first!.headers);
    expect(second!.body).toBe(first!.body);
    expect(String(first!.url)).toBe("https://runnel.example/v1/agents");
    await client.json("GET", "/v1/agents/agt_1");
    expect(asked[2]!.headers).toEqual({ authorization: "Bearer sk_test_1" });
  });

  test("with a condition is not retried if its outcome is unknown", async () => {
    const { client, asked } = clientOf(() => {
      throw new TypeError("socket closed");
    });
    const condition = { headers: { "If-Match": '"3"' }, body: { value: 1 } };
    expect(client.json("PUT", "/v1/memory/mem_1/keys/city", condition)).rejects.toBeInstanceOf(APIConnectionError);
    await client.json("PATCH", "/v1/agents/agt_1", { body: { expected_version: 2 } }).catch(() => {});
    expect(asked).toHaveLength(2);
  });

  test("with a wait gets that time on top of its timeout", async () => {
    const never: Fetch = (_, { signal }) =>
      new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason)));
    const late = new Client({ apiKey: "sk_test_1", timeoutMs: 5, maxRetries: 0, fetch: never });
    await expect(late.json("GET", "/v1/me")).rejects.toBeInstanceOf(APITimeoutError);
    const waiting = late.json("GET", "/v1/me", { query: { wait: 60 } }).catch((error: unknown) => error);
    expect(await Promise.race([waiting, Bun.sleep(50)])).toBeUndefined();
  });

  test("to a server with an untrusted certificate fails at once and says what to do", async () => {
    const { client, asked } = clientOf(() => {
      throw new TypeError("fetch failed", {
        cause: Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }),
      });
    });
    const error = await client.json("GET", "/v1/me").catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CertificateError);
    expect(String(error)).toContain("RUNNEL_CACERT");
    expect(asked).toHaveLength(1);
  });

  test("to a server other than runnel says so", async () => {
    const { client } = clientOf(() => new Response("<html>Welcome"));
    expect(client.json("GET", "/v1/me")).rejects.toThrow("Is that its address?");
  });
});

describe("a list", () => {
  const ids = ["e", "d", "c", "b", "a"];
  /** Pages of two, split as by the API. */
  const paged = () =>
    clientOf(({ searchParams }) => {
      const [after, before] = [searchParams.get("starting_after"), searchParams.get("ending_before")];
      const left = before ? ids.slice(0, ids.indexOf(before)) : ids.slice(after ? ids.indexOf(after) + 1 : 0);
      const data = before ? left.slice(-2) : left.slice(0, 2);
      const [first_id = null, last_id = null] = [data[0], data.at(-1)];
      return Response.json({ data, has_more: left.length > data.length, first_id, last_id });
    });

  test("iterates over all items, and requests a page only when needed", async () => {
    const { client, asked } = paged();
    const list = new List<string>(client, "/v1/agents", { limit: 2 });
    expect(asked).toHaveLength(0);
    expect(await list.toArray()).toEqual(ids);
    expect(asked).toHaveLength(3);
    expect(await list.toArray({ limit: 2 })).toEqual(["e", "d"]);
    expect(asked).toHaveLength(4);
    const page: Page<string> = await list;
    expect(page).toEqual({ data: ["e", "d"], has_more: true, first_id: "e", last_id: "d" });
  });

  test("iterates backwards from `ending_before`, the nearest first", async () => {
    const { client } = paged();
    expect(await new List<string>(client, "/v1/agents", { ending_before: "b" }).toArray()).toEqual(["c", "d", "e"]);
  });
});

test("a slim stream is read like a full one, and resumed after a lost connection", async () => {
  const token = (id: string, data: object) => `event: token\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  const rest = { step_index: 0, seq: 2, run_id: "run_1", at: "2026-01-01T00:00:00.000Z" };
  const parts = [
    [token("2.3", { delta: "Hm ", kind: "reasoning", offset: 3, ...rest }), token("2.5", { delta: "😀" })],
    [token("2.7", { delta: "a ", kind: "output", offset: 7, ...rest }), token("2.8", { delta: "b" })],
  ];
  const headers = { "content-type": "text/event-stream" };
  const end = 'event: run.completed\nid: 4\ndata: {"run_id":"run_1"}\n\n';
  const { client, asked } = clientOf(
    (_, __, index) => new Response(parts[index]!.join("") + (index === 1 ? end : ""), { headers }),
  );
  const stream = new RunStream(client, { path: "/v1/runs", body: {} }, { slim: true });
  const tokens: unknown[] = [];
  for await (const { event, data } of stream) if (event === "token") tokens.push(data);
  expect(tokens).toEqual([
    { delta: "Hm ", kind: "reasoning", offset: 3, ...rest },
    { delta: "😀", kind: "reasoning", offset: 5, ...rest },
    { delta: "a ", kind: "output", offset: 7, ...rest },
    { delta: "b", kind: "output", offset: 8, ...rest },
  ]);
  expect(stream.text).toBe("a b");
  expect(asked.map(({ url }) => url.pathname + url.search)).toEqual([
    "/v1/runs?frames=slim",
    "/v1/runs/run_1/events?frames=slim",
  ]);
});

describe("a client with other options", () => {
  test("adds its headers to those of the first, whatever their case, and sends by the same connections", async () => {
    const asked: Record<string, string>[] = [];
    const fetch: Fetch = async (_, init) => {
      asked.push(init.headers as Record<string, string>);
      return Response.json({});
    };
    const first = new Client({ apiKey: "sk_test_1", fetch, headers: { "X-Team": "red", "X-Kept": "1" } });
    const second = first.withOptions({ headers: { "x-team": "blue" } });
    await second.json("GET", "/v1/me", { headers: { "X-TEAM": "green" } });
    await second.json("GET", "/v1/me");
    await first.json("GET", "/v1/me");
    expect(asked.map((headers) => headers["x-team"])).toEqual(["green", "blue", "red"]);
    expect(asked.map((headers) => headers["x-kept"])).toEqual(["1", "1", "1"]);
    expect(asked.map((headers) => headers.authorization)).toEqual(Array(3).fill("Bearer sk_test_1"));
    expect(second.baseUrl).toBe(first.baseUrl);
  });

  test("has its own number of retries, and leaves that of the first alone", async () => {
    const { client, asked } = clientOf(() => soon(503));
    await client
      .withOptions({ maxRetries: 0 })
      .json("GET", "/v1/me")
      .catch(() => {});
    expect(asked).toHaveLength(1);
    expect(client.withOptions({}).maxRetries).toBe(client.maxRetries);
  });

  test("is of the same class, with its resources", () => {
    class Own extends Client {
      readonly resource = { client: this };
    }
    const own = new Own({ apiKey: "sk_test_1" }).withOptions({ timeoutMs: 5 });
    expect(own).toBeInstanceOf(Own);
    expect(own.resource.client).toBe(own);
  });
});

test("an error has its status under both names, and a message", async () => {
  const body = { error: { code: "resource_not_found", message: "There is no such agent.", type: "not_found_error" } };
  const { client } = clientOf(() => Response.json(body, { status: 404 }));
  const error = await client.json("GET", "/v1/agents/agt_1").catch((error: unknown) => error);
  expect(error).toMatchObject({ status: 404, statusCode: 404, message: "There is no such agent." });
});

describe("functions that are tools", () => {
  const call = (tool_call_id: string, name: string, needs: string) => ({
    tool_call_id,
    name,
    needs,
    arguments: {},
    tool_id: null,
  });

  /** Answers the calls of one run by `answerer`; returns the requests beside those that read the run. */
  function answering(calls: object[], options: Partial<AnswerOptions>) {
    const run = { id: "run_1", tool_calls: [], required_action: { submit_tool_outputs: { tool_calls: calls } } };
    const { client, asked } = clientOf(() => Response.json(run));
    const answer = createAnswerer(client, { tools: {}, areSent: false, isComplete: true, request: {}, ...options });
    return { answer: () => answer("run_1"), submitted: () => asked.filter(({ method }) => method === "POST") };
  }

  test("learn by their signal that a decision came to nothing, and nothing is submitted", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { answer, submitted } = answering([call("call_1", "wait", "output"), call("call_2", "pay", "approval")], {
      tools: {
        wait: (_, { signal }) => signal!.addEventListener("abort", () => resolve(signal!.reason)) ?? promise,
      },
      decide: () => {
        throw new Error("Nobody is there to decide.");
      },
    });
    expect(await answer().catch((error: Error) => error.message)).toBe("Nobody is there to decide.");
    expect(await promise).toMatchObject({ message: "Nobody is there to decide." });
    expect(submitted()).toEqual([]);
  });

  test("report what a function threw in words, whatever it is", async () => {
    const thrown = [new Error("No such city."), new RangeError(), "closed", { code: "E_GONE" }, null];
    const tools = Object.fromEntries(
      thrown.map((each, index) => [
        `tool_${index}`,
        () => {
          throw each;
        },
      ]),
    );
    const { answer, submitted } = answering(
      thrown.map((_, index) => call(`call_${index}`, `tool_${index}`, "output")),
      { tools },
    );
    await answer();
    const { tool_outputs } = JSON.parse(String(submitted()[0]!.body)) as { tool_outputs: { output: string }[] };
    expect(tool_outputs.map(({ output }) => output)).toEqual([
      "No such city.",
      "RangeError",
      "closed",
      '{"code":"E_GONE"}',
      "null",
    ]);
  });
});

describe("tools in the wrong place", () => {
  class Runs extends RunsBase<EndedRun, AnyEvent, { input: unknown; tools?: readonly unknown[]; overrides?: object }> {}
  const lookup = tool({ name: "lookup", run: () => 1 });

  test.each([
    ["one tool", lookup, "`tools` is a list: write `tools: [lookup]`."],
    ["a plain function in the list", [() => 1], "tools[0] is a function: make a tool of a function by"],
    ["a name in the list", [lookup, "lookup"], "tools[1] is a string"],
    ["nothing in the list", [null], "tools[0] is a null"],
    ["a name beside a name", { lookup: "lookup" }, "tools.lookup is not a function."],
  ])("are refused with what helps, before a run begins: %s", async (_, tools, message) => {
    const { client, asked } = clientOf(() => Response.json({}));
    const runs = new Runs(client);
    // biome-ignore lint/suspicious/noExplicitAny: as a program without types has it.
    const wrong = tools as any;
    await expect(runs.run("agt_1", "Go", { tools: wrong })).rejects.toThrow(message);
    expect(() => runs.stream({ input: "Go", tools: wrong })).toThrow(message);
    expect(asked).toEqual([]);
  });
});

describe("onEvent", () => {
  class Runs extends RunsBase<EndedRun, AnyEvent, { input: unknown }> {}
  const frame = (id: number, event: string) => `event: ${event}\nid: ${id}\ndata: {"run_id":"run_1"}\n\n`;
  const stream = frame(1, "run.created") + frame(2, "run.completed");
  const runs = () =>
    new Runs(
      clientOf((_, { method }) =>
        method === "POST"
          ? new Response(stream, { headers: { "content-type": "text/event-stream" } })
          : Response.json({ id: "run_1", status: "completed" }),
      ).client,
    );

  test("that is async is awaited before the next event", async () => {
    const steps: string[] = [];
    const onEvent = async ({ event }: AnyEvent) => {
      steps.push(`${event} begins`);
      await Bun.sleep(1);
      steps.push(`${event} ends`);
    };
    await runs().run("agt_1", "Go", { onEvent });
    expect(steps).toEqual(["run.created begins", "run.created ends", "run.completed begins", "run.completed ends"]);
  });

  test("that is async and fails makes the call fail, with the run's id", async () => {
    const onEvent = () => Promise.reject(new TypeError("mine"));
    const error = await runs()
      .run("agt_1", "Go", { onEvent })
      .catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "TypeError", message: "mine", runId: "run_1" });
  });
});

test("functions become tools of a project by their names, one after the other", async () => {
  class Tools extends ToolsBase<{ outcome: string }> {
    sync = (tools: FunctionTool[]) => this.syncAll(tools, { dry_run: true }, undefined);
  }
  const { client, asked } = clientOf((_, __, index) =>
    Response.json({ outcome: index === 0 ? "created" : "unchanged" }),
  );
  const lookup = tool({ name: "look up/1", description: "Finds.", run: () => 1 });
  const outcomes = await new Tools(client).sync([lookup, tool({ name: "other", run: () => 2 })]);
  expect(outcomes).toEqual([{ outcome: "created" }, { outcome: "unchanged" }]);
  expect(asked.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
    "PUT /v1/tools/by-name/look%20up%2F1?dry_run=true",
    "PUT /v1/tools/by-name/other?dry_run=true",
  ]);
  expect(JSON.parse(String(asked[0]!.body))).toEqual({
    type: "client",
    description: "Finds.",
    parameters: { type: "object", properties: {} },
  });
});
