import { expect, test } from "bun:test";
import { testApp } from "../../testing/test-app.ts";

const settingsOf: Record<string, Record<string, string>> = {
  brave_search: { api_key: "brave-secret-key" },
  calculator: {},
  current_time: { time_zone: "Europe/Berlin" },
  fetch_page: { allowed_hosts: "docs.example.com, *.example.org" },
  github: { token: "github-secret-token" },
  query_table: {},
  searxng_search: { url: "https://search.example.com/" },
  send_email: {
    smtp_url: "smtp://runnel@mail.example.com:587",
    password: "mail-secret-password",
    from: "Support <support@example.com>",
    allowed_recipients: "*@example.com",
  },
  slack: { token: "slack-secret-token" },
  tavily_search: { api_key: "tavily-secret-key" },
};
const names = Object.keys(settingsOf);
const path = "/v1/tools/catalog";

test("a new project has no tool, and a catalogue that says what each entry needs and adds", async () => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  expect((await client.get("/v1/tools")).body.data).toEqual([]);
  const { status, body } = await client.get(path);
  expect(status).toBe(200);
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(names);
  for (const { name, title, description, settings, tools } of body.data) {
    expect([title, description].every((text) => text.length > 3)).toBe(true);
    expect(settings.map((each: { name: string }) => each.name)).toEqual(
      expect.arrayContaining(Object.keys(settingsOf[name]!)),
    );
    expect(tools.length).toBeGreaterThan(0);
  }
});

test.each(names)("the tools of %s are created as the catalogue says, and show no secret", async (name) => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  const { body: catalog } = await client.get(path);
  const entry = catalog.data.find((each: { name: string }) => each.name === name);
  const { status, body } = await client.post(`${path}/${name}`, { settings: settingsOf[name] });
  expect([status, body.error]).toEqual([201, undefined]);
  for (const [i, tool] of body.data.entries()) {
    const { name, type, description, approval } = entry.tools[i];
    expect(tool).toMatchObject({ name, type, description, approval, enabled: true });
    expect((await client.get(`/v1/tools/${tool.id}`)).body).toMatchObject({ name, type });
  }
  expect(body.data).toHaveLength(entry.tools.length);
  const stored = server.db.sqlite.query("SELECT definition, sealed FROM tools").all();
  for (const secret of ["brave", "github", "mail", "slack", "tavily"].map((word) => `${word}-secret`))
    expect(JSON.stringify([body, stored, (await client.get("/v1/audit_log")).body])).not.toContain(secret);
});

test("what changes something at others is approved by a person, what only reads is not", async () => {
  await using server = testApp({ sandbox: "strict" });
  const { body } = await (await server.client()).get(path);
  const approved = body.data.flatMap(({ tools }: { tools: { name: string; approval: string }[] }) =>
    tools.filter(({ approval }) => approval === "always").map(({ name }) => name),
  );
  expect(approved).toEqual(["github_create_issue", "github_comment", "send_email", "slack_post_message"]);
});

test("an entry is added twice under two prefixes, and not over tools that are there", async () => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  const { settings } = { settings: settingsOf.github };
  expect((await client.post(`${path}/github`, { settings, prefix: "work_" })).status).toBe(201);
  await client.post("/v1/tools", { name: "github_comment", type: "client" });
  const { status, body } = await client.post(`${path}/github`, { settings });
  expect([status, body.error.code, body.error.param]).toEqual([409, "name_taken", "prefix"]);
  const all = (await client.get("/v1/tools?limit=100")).body.data.map(({ name }: { name: string }) => name);
  expect(all.filter((name: string) => name.startsWith("github_"))).toEqual(["github_comment"]);
});

test("if one tool cannot be created, none is", async () => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  const settings = { token: "t", api_url: "https://169.254.169.254/api" };
  const { status, body } = await client.post(`${path}/github`, { settings });
  expect([status, body.error.code, body.error.param]).toEqual([403, "url_not_allowed", "settings.api_url"]);
  expect((await client.get("/v1/tools")).body.data).toEqual([]);
});

test.each<[string, string, object, string]>([
  ["a required setting that is missing", "github", {}, "settings.token"],
  ["a required setting that is empty", "github", { settings: { token: " " } }, "settings.token"],
  ["a setting that the entry does not have", "calculator", { settings: { token: "x" } }, "settings.token"],
  ["an address that is none", "searxng_search", { settings: { url: "search" } }, "settings.url"],
  [
    "a mail server that is none",
    "send_email",
    { settings: { smtp_url: "https://x", from: "a@b.de" } },
    "settings.smtp_url",
  ],
  [
    "a sender that is none",
    "send_email",
    { settings: { smtp_url: "smtp://mail.example.com", from: "x" } },
    "settings.from",
  ],
  ["a host that is none", "fetch_page", { settings: { allowed_hosts: "https://x" } }, "settings.allowed_hosts"],
  ["a secret that does not exist", "slack", { settings: { token: "{{secret.NONE}}" } }, "settings.token"],
  ["a prefix that makes a name too long", "github", { settings: { token: "x" }, prefix: "p".repeat(60) }, "prefix"],
])("%s is a fault of that setting", async (_, name, body, param) => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  const { status, body: answer } = await client.post(`${path}/${name}`, body);
  expect([status, answer.error?.code, answer.error?.errors?.[0]?.param ?? answer.error?.param]).toEqual([
    400,
    "validation_failed",
    param,
  ]);
  expect((await client.get("/v1/tools")).body.data).toEqual([]);
});

test("an entry that does not exist is not found, and a key that only reads adds nothing", async () => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  expect((await client.post(`${path}/nothing`, {})).status).toBe(404);
  expect((await client.post(`${path}/__proto__`, {})).status).toBe(404);
});

test("a stored secret can be named in place of a key", async () => {
  await using server = testApp({ sandbox: "strict" });
  const client = await server.client();
  await client.put("/v1/secrets/GH", { value: "github-secret-token" });
  const { status } = await client.post(`${path}/github`, { settings: { token: "{{secret.GH}}" } });
  expect(status).toBe(201);
});
