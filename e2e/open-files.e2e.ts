import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { temporaryFolder } from "../server/testing/temporary.ts";
import { createScripted, createTool } from "./fixtures.ts";
import { executable, type Json, type Runnel, startRunnel } from "./harness.ts";
import { figuresAvailable, openFiles, serverPid } from "./process-figures.ts";

const files = 200;

/** Opens more connections than the server may have files: the rest wait until it can accept them. */
async function crowd(server: Runnel): Promise<Disposable> {
  const { hostname, port } = new URL(server.url);
  const sockets: Socket[] = Array.from({ length: 2 * files }, () => connect(Number(port), hostname));
  for (const socket of sockets) socket.on("error", () => {});
  while (openFiles(serverPid(server.dataDir)) < files) await Bun.sleep(10);
  return {
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

test.skipIf(!figuresAvailable)(
  "with no file descriptor left, a program returns an error that the model reads, and the next one is retried until it starts",
  async () => {
    using folder = temporaryFolder();
    const program = folder.file("runnel");
    writeFileSync(program, `#!/bin/sh\nulimit -n ${files}\nexec '${executable}' "$@"\n`, { mode: 0o700 });
    await using server = await startRunnel({ program });
    expect(server.log()).toContain(`${files} files, pipes and sockets may be open at once`);
    const { findings } = JSON.parse((await server.command("doctor", "--json")).stdout);
    expect(findings).toContainEqual(expect.objectContaining({ check: "open files", result: "warn" }));

    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    using gate = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch() {
        asked.resolve();
        await answer.promise;
        return Response.json({ open: true });
      },
    });
    const tools = await Promise.all([
      createTool(server, { name: "gate", url: gate.url.href }),
      createTool(server, { name: "compute", type: "code", language: "javascript", source: "() => 6 * 7" }),
    ]);
    const call = (name: string) => ({ tool_calls: [{ name, arguments: { city: "Oslo" } }] });
    const script = [call("gate"), call("compute"), call("compute"), { text: "Done." }];
    const agent_id = await createScripted(server, script, { tools: tools.map(({ id }) => id) });
    await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Go", stream: true } });
    await asked.promise;
    {
      using _ = await crowd(server);
      answer.resolve();
      await stream.until(({ event, data }) => event === "tool.completed" && data.tool === "compute");
    }
    const run: Json = (await stream.rest()).at(-1)?.data;
    expect(run).toMatchObject({ status: "completed", output: "Done." });
    const { body } = await server.get(`/v1/runs/${run.run_id}`);
    expect(body.tool_calls.map(({ error }: Json) => error?.code ?? null)).toEqual([null, "sandbox_failed", null]);
    expect(body.tool_calls[1].error.message).toContain("EMFILE");
  },
  60_000,
);
