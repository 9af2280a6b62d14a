import { expect, test } from "bun:test";
import { testApp } from "../../testing/test-app.ts";

test("a maximum below the minimum matches no runs, without an error", async () => {
  await using server = testApp();
  const client = await server.client();
  for (const query of ["duration_ms_min=1&duration_ms_max=0", "cost_min=5&cost_max=1"])
    expect(await client.get(`/v1/runs/count?${query}`)).toMatchObject({ status: 200, body: { count: 0 } });
});
