import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Environment } from "../../domain/scope.ts";
import { createConsentWorld } from "../../testing/consents.ts";
import { type OAuthServer, startOAuthServer } from "../../testing/oauth-server.ts";
import { type TestApp, testApp } from "../../testing/test-app.ts";

// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
type Json = any;

const projects = ["north", "south"];
const users = ["ada", "bob"];
const services = ["GitHub", "Slack"];

let issuer: OAuthServer;
let app: TestApp;
beforeAll(async () => {
  issuer = await startOAuthServer();
  app = testApp();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

/** Ways in which a call of a run of a user comes about. */
const ways = ["run", "thread", "child", "fork", "handoff"] as const;

const call = (name: string) => ({ tool_calls: [{ name, arguments: {} }] });

/** Creates what a project needs in an environment: an agent for each way. */
async function furnish(project: string, environment: Environment) {
  const client = await app.client({ project, environment });
  const world = createConsentWorld(app, client, issuer);
  const tools: string[] = [];
  for (const name of services) {
    const made = await world.oauthClient(name);
    tools.push((await world.whoTool(name.toLowerCase(), made.id)).id);
  }
  const script = [
    { tool_calls: services.map((name) => ({ name: name.toLowerCase(), arguments: {} })) },
    { text: "Done." },
  ];
  const plain = await world.agent(script, tools);
  const helper = await world.make("/v1/tools", {
    name: "helper",
    type: "agent",
    description: "Helps.",
    agent_id: plain.id,
  });
  const parent = await world.agent(
    [{ tool_calls: [{ name: "helper", arguments: { input: "Who?" } }] }, { text: "Done." }],
    [helper.id],
  );
  const front = await world.agent([call(`transfer_to_${plain.name.replaceAll(/[^a-zA-Z0-9]+/g, "_")}`)], [], {
    handoffs: [{ agent_id: plain.id }],
  });
  return { client, world, plain, parent, front };
}

/** Starts a run of a user in this way, and returns it once it waits or has ended. */
async function begin({ client, world, plain, parent, front }: Furnished, way: (typeof ways)[number], user: string) {
  switch (way) {
    case "run":
      return world.settled((await world.run(plain, user)).id);
    case "thread": {
      const { id } = await world.make("/v1/threads", { user_id: user });
      return world.settled((await world.run(plain, null, { thread_id: id })).id);
    }
    case "child":
      return world.settled((await world.run(parent, user)).id);
    case "handoff":
      return world.settled((await world.run(front, user)).id);
    case "fork": {
      const run = await world.settled((await world.run(plain, user)).id);
      const { status, body } = await client.post(`/v1/runs/${run.id}/fork`, { step_index: -1 });
      expect({ status, body }).toMatchObject({ status: 201 });
      return world.settled(body.id);
    }
  }
}

type Furnished = Awaited<ReturnType<typeof furnish>>;

/** Returns what the calls of a run and of the runs below it have said. */
async function saidBy({ client }: Furnished, run: Json): Promise<string[]> {
  const outputs = (run.tool_calls as Json[]).map(async (made) =>
    made.subagent_run_id
      ? saidBy({ client } as Furnished, (await client.get(`/v1/runs/${made.subagent_run_id}`)).body)
      : (made.output?.subject ?? []),
  );
  return (await Promise.all(outputs)).flat();
}

test("the token of a user is used in runs of this user only: in each project, environment, client and way", async () => {
  const subjectOf = (...parts: string[]) => parts.join(" ");
  // An issuer of the live environment needs https; the next test is about environments.
  for (const project of projects)
    for (const environment of ["test"] as const) {
      const place = await furnish(project, environment);
      // Ada consents for both services before Bob's runs begin, so that his could take hers.
      for (const user of users) {
        const first = await begin(place, "run", user);
        const { authorizations } = first.required_action;
        expect(authorizations.map(({ name, user_id }: Json) => [name, user_id])).toEqual(
          services.map((name) => [name, user]),
        );
        for (const { name, url } of authorizations)
          await place.world.consent(url, subjectOf(project, environment, user, name));
        const own = services.map((name) => subjectOf(project, environment, user, name));
        expect(await saidBy(place, await place.world.ended(first.id))).toEqual(own);
        for (const way of ways) {
          const run = await place.world.ended((await begin(place, way, user)).id);
          const said = await saidBy(place, run);
          expect({ project, user, way, status: run.status, said }).toEqual({
            project,
            user,
            way,
            status: "completed",
            said: own,
          });
        }
      }
      for (const way of ways) {
        const run = await begin(place, way, "eve");
        expect({ way, action: run.required_action }).toMatchObject({
          way,
          action: { type: "authorization", authorizations: services.map((name) => ({ name, user_id: "eve" })) },
        });
      }
    }
}, 120_000);

test.each([
  ["another project", { project: "elsewhere" }],
  ["another environment", { project: "here", environment: "live" as const }],
])("no tool of %s can use a client, and none of its runs is let go on by a consent", async (_, place) => {
  const here = createConsentWorld(app, await app.client({ project: "here" }), issuer);
  const { id: oauth_client_id } = await here.oauthClient(`GitHub of ${crypto.randomUUID()}`);
  const other = await app.client(place);
  const tool = { name: "who", type: "http", parameters: { type: "object" }, url: "https://api.example.com/" };
  expect(await other.post("/v1/tools", { ...tool, auth: { type: "oauth", oauth_client_id } })).toMatchObject({
    status: 400,
    body: { error: { param: "auth.oauth_client_id" } },
  });
  expect(await other.get(`/v1/oauth_clients/${oauth_client_id}`)).toMatchObject({ status: 404 });
});
