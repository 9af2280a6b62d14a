import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

let count = 0;
const newName = () => `policy_${++count}`;
const ok = ({ status, body }: Answer): Answer["body"] => {
  expect([status, body.error ?? null]).toEqual([status < 300 ? status : 200, null]);
  return body;
};
const snippetOf = async (text: string, more: object = {}) =>
  ok(await client.post("/v1/snippets", { name: newName(), text, ...more }));
const scripted = { name: "a", model: "test/script", model_settings: { script: [{ text: "Done." }] } };
const newAgent = async (more: object): Promise<string> =>
  ok(await client.post("/v1/agents", { ...scripted, ...more })).id;
const sent = async (agent_id: string, more: object = {}): Promise<string> =>
  sentTo(ok(await client.post("/v1/runs?wait=60", { agent_id, input: "Go.", ...more })).id);
const sentTo = async (id: string): Promise<string> =>
  (await client.get(`/v1/traces/${id}?include=prompt`)).body.steps.flatMap(
    ({ prompt }: Answer["body"]) => prompt ?? [],
  )[0].messages[0].content;
const refusal = ({ status, body }: Answer) => [status, body.error?.code, body.error?.message];

test("each change of the text is a version, and other changes are none", async () => {
  const { id, name, ...made } = await snippetOf("One.", { description: "d", metadata: { team: "a" } });
  expect(made).toMatchObject({
    object: "snippet",
    text: "One.",
    version: 1,
    description: "d",
    metadata: { team: "a" },
  });
  const path = `/v1/snippets/${id}`;
  expect(ok(await client.patch(path, { text: "Two." }))).toMatchObject({ version: 2, text: "Two.", description: "d" });
  expect(ok(await client.patch(path, { text: "Two." })).version).toBe(2);
  expect(ok(await client.patch(path, { description: null }))).toMatchObject({ version: 2, description: null });
  expect(refusal(await client.patch(path, { text: "x", expected_version: 1 }))).toEqual([
    409,
    "version_conflict",
    "The snippet is at version 2.",
  ]);
  const versions = ok(await client.get(`${path}/versions`));
  expect(versions.data.map(({ text, version }: Answer["body"]) => [text, version])).toEqual([
    ["Two.", 2],
    ["One.", 1],
  ]);
  expect(ok(await client.get(`${path}/versions?starting_after=2`)).data).toHaveLength(1);
  expect(ok(await client.get(`${path}/versions/1`))).toMatchObject({ id, name, text: "One.", version: 1 });
  expect((await client.get(`${path}/versions/3`)).status).toBe(404);
  expect(ok(await client.get(`/v1/snippets?name=${name}`)).data.map((each: Answer["body"]) => each.id)).toEqual([id]);
});

test("a name is unique in its project and environment, and cannot be changed", async () => {
  const { id, name } = await snippetOf("x");
  expect(refusal(await client.post("/v1/snippets", { name, text: "y" }))).toEqual([
    409,
    "name_taken",
    `There is already a snippet "${name}".`,
  ]);
  for (const other of [await server.client({ environment: "live" }), await server.client({ project: "other" })])
    expect((await other.post("/v1/snippets", { name, text: "y" })).status).toBe(201);
  expect((await client.patch(`/v1/snippets/${id}`, { name: "b" })).status).toBe(400);
});

test("a text has no snippets, no names that are none, and a limited length", async () => {
  const { name } = await snippetOf("x");
  for (const text of [`{{> ${name}}}`, "{{>x}}", "", "{{a}}".repeat(201), "x".repeat(64 * 1024 + 1)])
    expect((await client.post("/v1/snippets", { name: newName(), text })).status).toBe(400);
  expect((await client.post("/v1/snippets", { name: newName(), text: "\\{{> x}}" })).status).toBe(201);
  for (const bad of ["a b", "1a", "a@1", "", "x".repeat(65)])
    expect((await client.post("/v1/snippets", { name: bad, text: "x" })).status).toBe(400);
});

test("an agent places snippets by name, which have its variables", async () => {
  const { name } = await snippetOf("Refund {{customer}} within {{days}} days. \\{{x}}");
  const variables = [
    { name: "customer", type: "string" },
    { name: "days", type: "integer", default: 14 },
  ];
  const agent_id = await newAgent({ instructions: `A {{> ${name}}} B {{>${name}}}`, snippets: [name], variables });
  expect(await sent(agent_id, { variables: { customer: "{{days}}" } })).toBe(
    "A Refund {{days}} within 14 days. {{x}} B Refund {{days}} within 14 days. {{x}}",
  );
  expect(ok(await client.get(`/v1/agents/${agent_id}`)).snippets).toEqual([name]);
});

test("without variables, {{name}} in a snippet is the text that it is", async () => {
  const { name } = await snippetOf("{{customer}}");
  expect(await sent(await newAgent({ instructions: `{{> ${name}}} {{x}}`, snippets: [name] }))).toBe(
    "{{customer}} {{x}}",
  );
});

test("an agent follows the newest version or pins one, and a run keeps the text that it began with", async () => {
  const { id, name } = await snippetOf("One.");
  const [newest, first] = [
    await newAgent({ instructions: `{{> ${name}}}`, snippets: [name] }),
    await newAgent({ instructions: `{{> ${name}}}`, snippets: [`${name}@1`] }),
  ];
  const run = ok(await client.post("/v1/runs?wait=60", { agent_id: newest, input: "Go." }));
  ok(await client.patch(`/v1/snippets/${id}`, { text: "Two." }));
  expect([await sent(newest), await sent(first), await sentTo(run.id)]).toEqual(["Two.", "One.", "One."]);
  const replay = async (agent: string) =>
    ok(await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify", agent })).replay.divergences.length;
  expect([await replay("pinned"), await replay("current")]).toEqual([0, 1]);
  const fork = ok(await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: -1 }));
  expect(await sentTo(fork.id)).toBe("One.");
});

test("an agent cannot name a snippet that there is not, twice, or without its place", async () => {
  const { name } = await snippetOf("x");
  const body = { ...scripted, instructions: `{{> ${name}}}` };
  for (const [snippets, message] of [
    [["none"], "snippets[0]: There is no snippet none."],
    [[`${name}@2`], `snippets[0]: There is no snippet ${name}@2.`],
    [[name, `${name}@1`], `snippets[1]: ${name} is named twice.`],
  ] as const)
    expect(refusal(await client.post("/v1/agents", { ...body, snippets }))).toEqual([
      400,
      "validation_failed",
      message,
    ]);
  const unplaced = await client.post("/v1/agents", { ...body, instructions: "", snippets: [name] });
  expect(refusal(unplaced)[2]).toBe(
    `snippets[0]: The instructions do not have this snippet: write {{> ${name}}} where it belongs.`,
  );
  expect((await client.post("/v1/agents", { ...body, snippets: [`${name}@0`] })).status).toBe(400);
  const stranger = await server.client({ project: "stranger" });
  expect(refusal(await stranger.post("/v1/agents", { ...body, snippets: [name] }))[2]).toBe(
    `snippets[0]: There is no snippet ${name}.`,
  );
});

test("a new text must fit the agents that follow the snippet, and not those that pin a version", async () => {
  const { id, name } = await snippetOf("x");
  const variables = [{ name: "customer", type: "string" }];
  const agent = { instructions: `{{> ${name}}}`, variables };
  await newAgent({ ...agent, snippets: [`${name}@1`] });
  ok(await client.patch(`/v1/snippets/${id}`, { text: "{{days}}" }));
  const follower = await client.post("/v1/agents", { ...scripted, ...agent, snippets: [name] });
  expect(refusal(follower)[2]).toBe(
    "snippets[0]: {{days}} is no variable of the agent: declare it, or write \\{{ for braces.",
  );
  ok(await client.patch(`/v1/snippets/${id}`, { text: "{{customer}}" }));
  await newAgent({ ...agent, snippets: [name] });
  expect(refusal(await client.patch(`/v1/snippets/${id}`, { text: "{{days}}" }))).toEqual([
    400,
    "validation_failed",
    'text: The agent "a" follows this snippet. {{days}} is no variable of the agent: declare it, or write \\{{ for braces.',
  ]);
});

test("a snippet that agents use is not deleted, and runs outlive it", async () => {
  const { id, name } = await snippetOf("One.");
  const agent_id = await newAgent({ instructions: `{{> ${name}}}`, snippets: [`${name}@1`] });
  const run = ok(await client.post("/v1/runs?wait=60", { agent_id, input: "Go." }));
  const refused = await client.delete(`/v1/snippets/${id}`);
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    409,
    "snippet_in_use",
    { agent_ids: [agent_id] },
  ]);
  ok(await client.patch(`/v1/agents/${agent_id}`, { instructions: "", snippets: [] }));
  expect(ok(await client.delete(`/v1/snippets/${id}`))).toMatchObject({ id, object: "snippet", deleted: true });
  expect((await client.get(`/v1/snippets/${id}/versions/1`)).status).toBe(404);
  expect(await sentTo(run.id)).toBe("One.");
  const again = ok(await client.post("/v1/snippets", { name, text: "New." }));
  expect(again.version).toBe(1);
});

test("a name that begins like another one is another snippet", async () => {
  const { id, name } = await snippetOf("x");
  const longer = ok(await client.post("/v1/snippets", { name: `${name}-b`, text: "y" }));
  await newAgent({ instructions: `{{> ${name}-b}}`, snippets: [longer.name] });
  expect((await client.delete(`/v1/snippets/${id}`)).status).toBe(200);
});

test("a snippet of a version that a label holds is neither deleted nor given a text that does not fit it", async () => {
  const { id, name } = await snippetOf("Be kind to {{customer}}.");
  const variables = [{ name: "customer", type: "string" }];
  const agent_id = await newAgent({ instructions: `{{> ${name}}}`, snippets: [name], variables });
  const hold = async (label: string, body: object) =>
    ok(await client.put(`/v1/agents/${agent_id}/labels/${label}`, body));
  await hold("production", { version: 1 });
  await hold("stable", { version: 1 });
  ok(await client.patch(`/v1/agents/${agent_id}`, { instructions: "", snippets: [], variables: [] }));

  const path = `/v1/snippets/${id}`;
  const refused = await client.delete(path);
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    409,
    "snippet_in_use",
    { agent_ids: [agent_id] },
  ]);
  expect(refusal(await client.patch(path, { text: "{{days}}" }))[2]).toBe(
    'text: Version 1 of the agent "a", which a label holds, follows this snippet. {{days}} is no variable of the agent: declare it, or write \\{{ for braces.',
  );
  expect(await sent(agent_id, { label: "production", variables: { customer: "Ann" } })).toBe("Be kind to Ann.");

  await hold("stable", { version: 2 });
  await hold("production", {
    split: [
      { version: 2, percent: 99 },
      { version: 1, percent: 1 },
    ],
  });
  expect((await client.delete(path)).status).toBe(409);
  await hold("production", { version: 2 });
  expect((await client.delete(path)).status).toBe(200);
});

test("a snippet of a deleted agent, or of the same name elsewhere, is not in use", async () => {
  const { id, name } = await snippetOf("One.");
  const agent_id = await newAgent({ instructions: `{{> ${name}}}`, snippets: [name] });
  ok(await client.put(`/v1/agents/${agent_id}/labels/production`, { version: 1 }));
  ok(await client.patch(`/v1/agents/${agent_id}`, { instructions: "", snippets: [] }));
  const live = await server.client({ environment: "live" });
  const same = ok(await live.post("/v1/snippets", { name, text: "One." }));
  expect((await live.delete(`/v1/snippets/${same.id}`)).status).toBe(200);
  ok(await client.delete(`/v1/agents/${agent_id}`));
  expect((await client.delete(`/v1/snippets/${id}`)).status).toBe(200);
});
