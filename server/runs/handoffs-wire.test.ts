import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { ConnectionProvider } from "../domain/providers.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import { type ProviderRequest, startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { settledRun } from "../testing/settled-run.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

let requests: ProviderRequest[] = [];
beforeEach(() => {
  requests = [];
});
const providers = startProviders((asked) => {
  const wire = wires[asked.provider];
  const called = ["look", "transfer_to_refunds"][requests.push(asked) - 1];
  if (!called) return [wire.begin(), wire.text("It is paid."), wire.end()];
  return [wire.begin(), wire.call(called), wire.args("{}"), wire.endCall(called, "{}"), wire.end(wire.calls)];
});

let server: TestApp;
let client: Client;
let look: string;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
  for (const connection of providers.connections) await server.connections.put(connection, testActor);
  look = (await client.post("/v1/tools", { name: "look", type: "client", description: "Looks." })).body.id;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
});

const newAgent = async (body: object): Promise<string> => (await client.post("/v1/agents", body)).body.id;

test.each<ConnectionProvider>(["openai", "anthropic", "google", "openai_compatible"])(
  "%s gets the next agent's model, instructions and headers, the results that go along, and no call of the handoff",
  async (provider) => {
    const model = `${modelPrefix(providers.connectionOf(provider))}/m-1`;
    const refunds = await newAgent({ name: "refunds", instructions: "Pay.", model: model.replace("m-1", "m-2") });
    const agent_id = await newAgent({
      name: "desk",
      instructions: "Hand over.",
      model,
      model_settings: { headers: { "x-team": "desk" } },
      tools: [look],
      handoffs: [refunds],
    });
    const { body: waiting } = await client.post("/v1/runs?wait=60", { agent_id, input: "Money." });
    const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
    const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "3 orders" }];
    await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, { tool_outputs });
    expect(await settledRun(server, client, waiting.id)).toMatchObject({ status: "completed", output: "It is paid." });
    expect(requests.map(({ request }) => request.headers.get("x-team"))).toEqual(["desk", "desk", null]);
    const [, , last] = requests;
    const sent = JSON.stringify(last!.body);
    expect(sent).toContain("3 orders");
    expect(sent).toContain("Pay.");
    expect(`${last!.request.url} ${sent}`).toContain("m-2");
    expect(sent).not.toMatch(/transfer_to_refunds|Hand over/);
  },
);
