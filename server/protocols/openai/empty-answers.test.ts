import { expect, test } from "bun:test";
import { startProviders } from "../../testing/provider-server.ts";
import { wires } from "../../testing/provider-wire.ts";
import { testActor } from "../../testing/test-actor.ts";
import { testApp } from "../../testing/test-app.ts";

const wire = wires.openai_compatible;

test.each([[""], [null], [[]], [[{ type: "text", text: "" }]], [undefined]])(
  "an answer without content (%j) comes back as history, and the chat goes on",
  async (content) => {
    await using providers = startProviders(() => [wire.begin(), wire.text("Hello."), wire.end()]);
    await using server = testApp();
    const client = await server.client();
    await server.connections.put(providers.connectionOf("openai_compatible"), testActor);
    const agent = { name: "a", instructions: "", model: "openai_compatible/stub/m" };
    const { id } = (await client.post("/v1/agents", agent)).body;
    const messages = [
      { role: "user", content: "Are you there?" },
      { role: "assistant", content },
      { role: "user", content: "Again?" },
    ];
    for (const model of [id, "openai_compatible/stub/m"]) {
      const { status, body } = await client.post("/openai/v1/chat/completions", { model, messages });
      expect([status, body.choices[0].message.content]).toEqual([200, "Hello."]);
      const sent = JSON.parse(providers.bodies.at(-1)!).messages;
      expect(sent.filter(({ role }: { role: string }) => role !== "system")).toEqual([messages[0], messages[2]]);
    }
    const input = messages.map((message) => ({ ...message, content: message.content ?? "" }));
    expect((await client.post("/openai/v1/responses", { model: id, input })).status).toBe(200);
  },
);

test("a user who says nothing is still refused", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = (await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body;
  const messages = [{ role: "user", content: "" }];
  const { status, body } = await client.post("/openai/v1/chat/completions", { model: id, messages });
  expect([status, body.error.param]).toEqual([400, "messages[0].content"]);
});
