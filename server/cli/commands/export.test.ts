import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testApp } from "../../testing/test-app.ts";
import { perform } from "../project-files/perform.ts";
import { readFolder } from "../project-files/read-files.ts";
import { createApiClient } from "./api-client.ts";
import { runAtTarget } from "./command-target.ts";
import { exportTo } from "./export.ts";

test("what names a deleted agent is left out of an export, which can be applied here and in an empty project", async () => {
  await using server = testApp();
  const folder = mkdtempSync(join(tmpdir(), "runnel-export-"));
  const listener = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => server.app.handle(request) });
  const address = `http://127.0.0.1:${listener.port}`;
  try {
    const client = await server.client();
    const make = async (kind: string, body: object): Promise<string> => {
      const { status, body: made } = await client.post(`/v1/${kind}`, body);
      expect(status).toBe(201);
      return made.id;
    };
    const agent = (name: string, more: object = {}) =>
      make("agents", { name, instructions: "Help.", model: "test/echo", ...more });
    const [gone, sales] = [await agent("Gone"), await agent("Sales")];
    const tools = [
      await make("tools", { name: "ask_gone", type: "agent", agent_id: gone }),
      await make("tools", { name: "ask_sales", type: "agent", agent_id: sales }),
      await make("tools", { name: "note", type: "client" }),
    ];
    await agent("Desk", { tools, handoffs: [gone, { agent_id: sales, filter: "last_message" }] });
    await make("schedules", { name: "s", agent_id: gone, input: "x", cron: "0 8 * * *", timezone: "UTC" });
    await make("triggers", { name: "t", agent_id: gone, verification: "github" });
    await client.delete(`/v1/agents/${gone}`);

    const said: string[] = [];
    const place = { say: (_: string, text: string) => void said.push(text) } as Parameters<typeof runAtTarget>[0];
    const flags = { url: address, apiKey: client.key.secret, dataDir: folder, json: true };
    await runAtTarget(place, () => exportTo(folder, flags));
    expect(said.at(-1)).toBe("Not written, because their agents are gone: tool ask_gone, schedule s, trigger t.");
    const files = readdirSync(folder, { recursive: true }).map(String);
    expect(files.filter((path) => path.endsWith(".yaml")).sort()).toEqual([
      "agents/desk.yaml",
      "agents/sales.yaml",
      "tools/ask-sales.yaml",
      "tools/note.yaml",
    ]);
    const text = readFileSync(join(folder, "agents/desk.yaml"), "utf8");
    expect(text).toContain("handoffs:\n  - agent: Sales\n    filter: last_message\n");
    expect(text).toContain("tools:\n  - ask_sales\n  - note\n");
    for (const { key } of [client, await server.client({ project: "empty" })]) {
      const api = createApiClient({ address, apiKey: key.secret, ca: null });
      await perform(api, readFolder(folder), false);
      const again = await perform(api, readFolder(folder), true);
      expect(again.every(({ outcome }) => outcome === "unchanged")).toBe(true);
    }
  } finally {
    await listener.stop(true);
    rmSync(folder, { recursive: true });
  }
});
