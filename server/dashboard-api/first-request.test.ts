import { expect, test } from "bun:test";
import { visitorOf } from "../testing/console-visitor.ts";
import { testApp } from "../testing/test-app.ts";

// The dashboard's resources are created at the first dashboard request, after the server has answered others.
test("a method that a resource has not is refused with those that it has, also when something was not found before", async () => {
  await using server = testApp({ dashboard: true });
  const { id } = await server.projects.create("default");
  expect((await server.send("GET", "/nothing")).status).toBe(404);
  const owner = await visitorOf(server, "owner");
  const refused = await owner.send("DELETE", `/${id}/test/webhooks`);
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST"]);
  expect((await owner.send("GET", `/${id}/test/webhooks`)).status).toBe(200);
});
