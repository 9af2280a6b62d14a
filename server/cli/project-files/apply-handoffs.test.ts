import { expect, test } from "bun:test";
import { type Client, testApp } from "../../testing/test-app.ts";
import { createApiClient } from "../commands/api-client.ts";
import { withAgentChoices } from "./agent-choices.ts";
import { perform } from "./perform.ts";
import type { FileThing } from "./read-files.ts";

const thing = (kind: FileThing["kind"], name: string, fields: object): FileThing => ({
  kind,
  name,
  path: `${name}.yaml`,
  fields: { name, ...fields },
});
const agent = (name: string, more: object = {}): FileThing =>
  thing("agent", name, { instructions: "Help.", model: "test/echo", ...more });

/** A server with a real address, and a function that sets things as `runnel apply` does, after a plan. */
async function startServer() {
  const server = testApp();
  const client = await server.client();
  const listener = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => server.app.handle(request) });
  const api = createApiClient({ address: `http://127.0.0.1:${listener.port}`, apiKey: client.key.secret, ca: null });
  return {
    client,
    async apply(...things: FileThing[]): Promise<string[]> {
      await perform(api, things, true);
      return (await perform(api, things, false)).map(({ outcome, name }) => `${outcome} ${name}`);
    },
    plan: (...things: FileThing[]) => perform(api, things, true),
    async [Symbol.asyncDispose]() {
      await listener.stop(true);
      await server[Symbol.asyncDispose]();
    },
  };
}

async function agentNamed(client: Client, name: string) {
  const [{ id }] = (await client.get(`/v1/agents?name=${encodeURIComponent(name)}`)).body.data;
  return (await client.get(`/v1/agents/${id}`)).body;
}

test("handoffs by name are made in an empty project, in any order of the files and in a circle", async () => {
  await using server = await startServer();
  const things = [
    agent("Front desk", { handoffs: ["Refund desk", { agent: "Sales", filter: "last_message" }] }),
    agent("Refund desk", { handoffs: ["Front desk"] }),
    agent("Sales"),
  ];
  expect(await server.apply(...things)).toEqual(["created Sales", "created Front desk", "created Refund desk"]);
  const [desk, refunds] = [
    await agentNamed(server.client, "Front desk"),
    await agentNamed(server.client, "Refund desk"),
  ];
  const sales = await agentNamed(server.client, "Sales");
  expect(desk.handoffs).toEqual([
    { agent_id: refunds.id, filter: "all" },
    { agent_id: sales.id, filter: "last_message" },
  ]);
  expect(refunds.handoffs).toEqual([{ agent_id: desk.id, filter: "all" }]);
  const again = await server.apply(...things);
  expect(again.every((line) => line.startsWith("unchanged "))).toBe(true);
});

test("a handoff by a name that nothing has is refused with its file, before anything is made", async () => {
  await using server = await startServer();
  await expect(server.apply(agent("Desk", { handoffs: ["Nobody@production"] }))).rejects.toThrow(
    'Desk.yaml: handoffs[0].agent: There is no agent "Nobody".',
  );
  expect((await server.client.get("/v1/agents")).body.data).toEqual([]);
});

test("a version or a label behind the name is that of the agent: in handoffs, schedules and agent tools", async () => {
  await using server = await startServer();
  await server.apply(agent("Refunds"));
  const { id } = await agentNamed(server.client, "Refunds");
  expect((await server.client.put(`/v1/agents/${id}/labels/v3`, { version: 1 })).status).toBe(200);
  const things = [
    agent("Desk", { handoffs: ["Refunds@v3"] }),
    agent("Other desk", { handoffs: [{ agent: "Refunds@1", filter: "last_message" }] }),
    thing("tool", "ask_refunds", { type: "agent", agent: "Refunds@v3" }),
    thing("schedule", "daily", { agent: "Refunds@1", input: "Report.", cron: "0 8 * * *", timezone: "UTC" }),
  ];
  await server.apply(...things);
  expect((await agentNamed(server.client, "Desk")).handoffs).toEqual([{ agent_id: id, label: "v3", filter: "all" }]);
  expect((await agentNamed(server.client, "Other desk")).handoffs).toEqual([
    { agent_id: id, version: 1, filter: "last_message" },
  ]);
  const [tool] = (await server.client.get("/v1/tools")).body.data;
  expect(tool).toMatchObject({ agent_id: id, version: null, label: "v3" });
  const [schedule] = (await server.client.get("/v1/schedules")).body.data;
  expect(schedule).toMatchObject({ agent_id: id, version: 1, label: null });
  const again = await server.plan(...things);
  expect(again.map(({ outcome }) => outcome)).toEqual(Array(4).fill("unchanged"));
});

test("an agent whose own name has an @ is meant by its whole name", async () => {
  await using server = await startServer();
  const things = [agent("Desk", { handoffs: ["Ann@work", { agent: "Bo@1" }] }), agent("Ann@work"), agent("Bo@1")];
  await server.apply(...things);
  const ids = [(await agentNamed(server.client, "Ann@work")).id, (await agentNamed(server.client, "Bo@1")).id];
  expect((await agentNamed(server.client, "Desk")).handoffs.map((each: { agent_id: string }) => each.agent_id)).toEqual(
    ids,
  );
});

test("a version behind the name and a second one beside it are refused", () => {
  const desk = agent("Desk", { handoffs: [{ agent: "Refunds@1", label: "beta" }] });
  expect(() => withAgentChoices([desk], { idsOf: () => [] })).toThrow(
    "Desk.yaml: handoffs[0].agent: It names a version already",
  );
});
