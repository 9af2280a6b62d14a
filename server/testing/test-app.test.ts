import { expect, test } from "bun:test";
import { Agent } from "../resources/agents/schema.ts";
import { testApp } from "./test-app.ts";

test("a response that differs from its route's declaration fails the test", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body } = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  const declared = server.operations["GET /v1/agents/:id"]!.responses[200]!;
  const { content } = declared;
  declared.content = { "application/json": { ...Agent, required: [...Agent.required!, "colour"] } };
  try {
    await expect(client.get(`/v1/agents/${body.id}`)).rejects.toThrow("is not as declared");
  } finally {
    declared.content = content; // Also other files of this process use it.
  }
});
