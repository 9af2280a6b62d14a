import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { requested, stateOf, turnWithCalls } from "../../../domain/__fixtures__/events.ts";
import type { HttpTool } from "../../../domain/agent-snapshot.ts";
import { newSigningSecret } from "../../../lib/signature.ts";
import { run as runHttpTool } from "../../../runtime/agent-loop/tools/http.ts";
import type { ToolResult } from "../../../runtime/agent-loop/tools/tool-result.ts";
import { toolBase } from "../../../testing/run-fixture.ts";
import { toolContext } from "../../../testing/tool-context.ts";
import { callOfRequest, changeRequest } from "../types/request.ts";
import type { Definition } from "../types/tool-kind.ts";
import { brave_search, github, searxng_search, slack, tavily_search } from "./all.ts";

// The entries' requests to a service, and its refusals, as the services' documentation and reports show them.

const entries = { brave_search, github, searxng_search, slack, tavily_search };
type Entry = keyof typeof entries;

interface Got {
  line: string;
  headers: Record<string, string>;
  body: string;
}
let got: Got[] = [];
let handle: () => Response;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    got.push({
      line: `${request.method} ${pathname}${search}`,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    });
    return handle();
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  got = [];
  handle = () => Response.json({ ok: true });
});

const signing_secret = newSigningSecret();
const origin = `http://127.0.0.1:${server.port}`;
const [call] = stateOf(...turnWithCalls(["call_1", null])).calls;
const settings = { api_key: "key-1", token: "token-1", url: `${origin}/`, api_url: `${origin}/api/v3` };

/** Calls a tool of an entry as a run does; its service is the server of this file. */
async function use(entry: Entry, name: string, args: Record<string, unknown>): Promise<ToolResult> {
  const input = entries[entry].tools(settings).find((tool) => tool.name === name)!;
  const definition = changeRequest(input, null) as unknown as Definition;
  const snapshot = callOfRequest(definition, "");
  const url = snapshot.http.url.replace(/^https:\/\/[^/]+/, origin);
  const tool: HttpTool = { ...toolBase(name), type: "http", ...snapshot, http: { ...snapshot.http, url } };
  const context = toolContext({ secrets: async () => ({ headers: input.headers ?? {}, signing_secret }) });
  const made = { ...call!, arguments: { ...requested("call_1", 1).call.arguments, ...args } };
  const { city, ...exact } = made.arguments;
  const signal = new AbortController().signal;
  return (await runHttpTool({ ...made, arguments: exact }, tool, context, signal)) as ToolResult;
}

const own = ["accept", "authorization", "content-type", "user-agent", "x-github-api-version", "x-subscription-token"];

describe("a service gets exactly", () => {
  test.each<[Entry, string, Record<string, unknown>, string, string, Record<string, string>]>([
    [
      "searxng_search",
      "web_search",
      { query: "a b&c=ü", pageno: 2 },
      "GET /search?q=a+b%26c%3D%C3%BC&format=json&pageno=2",
      "",
      { accept: "application/json" },
    ],
    [
      "brave_search",
      "web_search",
      { query: "50% off?", count: 3 },
      "GET /res/v1/web/search?q=50%25+off%3F&text_decorations=false&result_filter=web&count=3",
      "",
      { accept: "application/json", "x-subscription-token": "key-1" },
    ],
    [
      "tavily_search",
      "web_search",
      { query: 'say "ü"', max_results: 2 },
      "POST /search",
      '{"query":"say \\"ü\\"","max_results":2}',
      { accept: "application/json", authorization: "Bearer key-1", "content-type": "application/json" },
    ],
    [
      "slack",
      "slack_list_channels",
      { limit: 5, cursor: "dGVhbTpD=" },
      "GET /api/conversations.list?exclude_archived=true&limit=5&cursor=dGVhbTpD%3D",
      "",
      { accept: "application/json", authorization: "Bearer token-1" },
    ],
    [
      "slack",
      "slack_post_message",
      { channel: "C1", text: "a <b> & *c* 😀\n" },
      "POST /api/chat.postMessage",
      '{"channel":"C1","text":"a <b> & *c* 😀\\n"}',
      {
        accept: "application/json",
        authorization: "Bearer token-1",
        "content-type": "application/json; charset=utf-8",
      },
    ],
    [
      "github",
      "github_list_files",
      { owner: "o", repo: "r", path: "src/a b", ref: "x/y" },
      "GET /api/v3/repos/o/r/contents/src%2Fa%20b?ref=x%2Fy",
      "",
      {
        accept: "application/vnd.github+json",
        authorization: "Bearer token-1",
        "x-github-api-version": "2022-11-28",
      },
    ],
    [
      "github",
      "github_create_issue",
      { owner: "o", repo: "r", title: "Ü", labels: ["bug"] },
      "POST /api/v3/repos/o/r/issues",
      '{"title":"Ü","labels":["bug"]}',
      {
        accept: "application/vnd.github+json",
        authorization: "Bearer token-1",
        "content-type": "application/json",
        "x-github-api-version": "2022-11-28",
      },
    ],
  ])("the request of %s, %s", async (entry, name, args, line, body, headers) => {
    expect(await use(entry, name, args)).toMatchObject({ error: null });
    expect(got).toHaveLength(1);
    expect([got[0]!.line, got[0]!.body]).toEqual([line, body]);
    const { "user-agent": agent, ...shown } = Object.fromEntries(
      Object.entries(got[0]!.headers).filter(([name]) => own.includes(name)),
    );
    expect([agent, shown]).toEqual(["runnel", headers]);
  });
});

const html = (status: number) =>
  new Response("<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1>", {
    status,
    headers: { "content-type": "text/html; charset=utf-8" },
  });

describe("a refusal is an error that says what to do:", () => {
  const search = { query: "x" };
  const issue = { owner: "o", repo: "r", number: 1 };
  const post = { channel: "C1", text: "Hi" };
  test.each<[string, Entry, string, Record<string, unknown>, () => Response, string[]]>([
    [
      "SearXNG without the format JSON",
      "searxng_search",
      "web_search",
      search,
      () => html(403),
      ["status 403", "`json` under `search.formats`"],
    ],
    [
      "a web page in place of SearXNG's JSON",
      "searxng_search",
      "web_search",
      search,
      () => html(200),
      ["a web page, not JSON"],
    ],
    [
      "Brave and a query that it does not take",
      "brave_search",
      "web_search",
      search,
      () =>
        Response.json(
          { type: "ErrorResponse", error: { code: "VALIDATION", detail: "Unable to validate request parameter(s)" } },
          { status: 422 },
        ),
      ["status 422", "Unable to validate"],
    ],
    [
      "Brave and a wrong key",
      "brave_search",
      "web_search",
      search,
      () => Response.json({ error: { code: "SUBSCRIPTION_TOKEN_INVALID" } }, { status: 422 }),
      ["SUBSCRIPTION_TOKEN_INVALID", "does not accept the API key"],
    ],
    [
      "Tavily and a wrong key",
      "tavily_search",
      "web_search",
      search,
      () => Response.json({ detail: { error: "Unauthorized: missing or invalid API key." } }, { status: 401 }),
      ["missing or invalid API key", "does not accept the API key"],
    ],
    [
      "Tavily and a plan that is used up",
      "tavily_search",
      "web_search",
      search,
      () => Response.json({ detail: { error: "This request exceeds your plan's set usage limit." } }, { status: 432 }),
      ["status 432", "plan of the API key is used up"],
    ],
    [
      "Tavily and a limit of pay-as-you-go",
      "tavily_search",
      "web_search",
      search,
      () => Response.json({ detail: { error: "This request exceeds the pay-as-you-go limit." } }, { status: 433 }),
      ["status 433", "raise it"],
    ],
    [
      "GitHub and an issue that there is not",
      "github",
      "github_get_issue",
      issue,
      () => Response.json({ message: "Not Found", status: "404" }, { status: 404 }),
      ["Not Found", "may not see it"],
    ],
    [
      "GitHub and an issue with faults",
      "github",
      "github_create_issue",
      { owner: "o", repo: "r", title: "T" },
      () =>
        Response.json(
          { message: "Validation Failed", errors: [{ resource: "Label", code: "invalid", field: "name" }] },
          { status: 422 },
        ),
      ["Validation Failed", '"field":"name"'],
    ],
    [
      "Slack and a channel that the bot is not in",
      "slack",
      "slack_post_message",
      post,
      () => Response.json({ ok: false, error: "not_in_channel" }),
      ["not_in_channel", "invite it"],
    ],
    [
      "Slack and a scope that is missing",
      "slack",
      "slack_list_users",
      {},
      () => Response.json({ ok: false, error: "missing_scope", needed: "users:read", provided: "chat:write" }),
      ["users:read", "install the app again"],
    ],
    [
      "Slack and an error without a hint",
      "slack",
      "slack_post_message",
      post,
      () => Response.json({ ok: false, error: "msg_too_long" }),
      ["msg_too_long"],
    ],
  ])("%s", async (_, entry, name, args, answer, words) => {
    handle = answer;
    const { output, error } = await use(entry, name, args);
    expect(output).toBeNull();
    for (const word of words) expect(error?.message).toContain(word);
    // None of them is over by itself, so none is asked twice.
    expect(got).toHaveLength(1);
  });
});

describe("a service that is asked too often", () => {
  const soon = { "retry-after": "0" };
  const inAnHour = String(Math.ceil(Date.now() / 1000) + 3600);
  test.each<[string, Entry, string, Record<string, unknown>, () => Response]>([
    [
      "Slack, with status 200",
      "slack",
      "slack_list_users",
      {},
      () => Response.json({ ok: false, error: "ratelimited" }, { headers: soon }),
    ],
    ["Slack, with status 429", "slack", "slack_list_users", {}, () => new Response("", { status: 429, headers: soon })],
    [
      "Brave",
      "brave_search",
      "web_search",
      { query: "x" },
      () => Response.json({ error: { code: "RATE_LIMITED" } }, { status: 429, headers: soon }),
    ],
    [
      "GitHub's secondary limit",
      "github",
      "github_search_code",
      { query: "x" },
      () => Response.json({ message: "You have exceeded a secondary rate limit." }, { status: 403, headers: soon }),
    ],
  ])("is asked again: %s", async (_, entry, name, args, refuse) => {
    handle = () => (got.length < 3 ? refuse() : Response.json({ ok: true }));
    expect(await use(entry, name, args)).toMatchObject({ error: null, attempts: 3 });
  });

  test("is not asked again if it names a time that is far, which the model reads", async () => {
    handle = () =>
      Response.json(
        { message: "API rate limit exceeded for user ID 1." },
        { status: 403, headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inAnHour } },
      );
    const { error } = await use("github", "github_search_code", { query: "x" });
    expect(error?.message).toMatch(/API rate limit exceeded.*can be called again in 3[56]\d\d seconds/s);
    expect(got).toHaveLength(1);
  });

  test("is not asked again for a comment, whose tool has no retries", async () => {
    handle = () => Response.json({ message: "secondary rate limit" }, { status: 403, headers: soon });
    const args = { owner: "o", repo: "r", number: 1, body: "Hi" };
    expect(await use("github", "github_comment", args)).toMatchObject({ error: { code: "http_error" }, attempts: 1 });
    expect(got).toHaveLength(1);
  });
});
