import { expect, test } from "bun:test";
import { startProviders } from "../../testing/provider-server.ts";
import { wires } from "../../testing/provider-wire.ts";
import { testActor } from "../../testing/test-actor.ts";
import { testApp } from "../../testing/test-app.ts";

const wire = wires.openai_compatible;

test.each([
  ["length", ["length"], "Hel"],
  ["content_filter", ["content_filter"], "Hel"],
  ["stop", ["stop"], "Hel"],
  // The second answer counts, because the first one failed.
  ["length", ["network_error", "length"], "Hel"],
])("a completion ends with %s where the model's answers end with %j", async (expected, reasons, text) => {
  await using providers = startProviders(({ index }) => [wire.begin(), wire.text("Hel"), wire.end(reasons[index])]);
  await using server = testApp();
  const client = await server.client();
  await server.connections.put(providers.connectionOf("openai_compatible"), testActor);
  const agent = { name: "a", instructions: "", model: "openai_compatible/stub/m" };
  const { id } = (await client.post("/v1/agents", agent)).body;
  const { body } = await client.post("/openai/v1/chat/completions", {
    model: id,
    messages: [{ role: "user", content: "Hello!" }],
  });
  expect(body.choices[0]).toMatchObject({ message: { content: text }, finish_reason: expected });
});
