import { describe, expect, test } from "bun:test";
import { createScripted } from "./fixtures.ts";
import { type Json, startRunnel } from "./harness.ts";

// Kills the process at each point of storing what programs leave in the folder that they share: after each file, after
// the variables, and around the result that names them. Programs change nothing outside, so they are run again.

const first = `
total = 40
for name in ("a.txt", "b.txt"):
    with open(name, "w") as file:
        file.write(name * 1000)
total`;
const second = `
total += 2
with open("a.txt", "a") as file:
    file.write("more")
with open("c.txt", "w") as file:
    file.write(str(total))
[total, len(open("a.txt").read()), len(open("b.txt").read())]`;

const files = { "a.txt": `${"a.txt".repeat(1000)}more`, "b.txt": "b.txt".repeat(1000), "c.txt": "42" };

describe("what programs leave is there once, whole and in order, if the process dies", () => {
  test.each([
    "before_effect.tool_call",
    "after_file:1", // a.txt of the first program
    "after_file:2", // b.txt
    "after_file:3", // its variables
    "after_effect.tool_call:1",
    "before_result.tool_call:1",
    "after_result.tool_call:1",
    "before_effect.tool_call:2",
    "after_file:4", // a.txt of the second program
    "after_file:5", // c.txt
    "after_file:6", // its variables
    "after_effect.tool_call:2",
    "before_result.tool_call:2",
    "after_result.tool_call:2",
  ])("at %s", async (point) => {
    await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT: point }, flags: ["--workers", "1"] });
    const tool = { name: "run_python", type: "code", language: "python", timeout_ms: 60_000 };
    const { body } = await server.post("/v1/tools", tool);
    const script = [
      ...[first, second].map((code) => ({ tool_calls: [{ name: "run_python", arguments: { code } }] })),
      { text: "Done." },
    ];
    const agent_id = await createScripted(server, script, { tools: [body.id] });
    const begun = server.post("/v1/runs?wait=60", { agent_id, input: "Go" }).catch(() => {});
    expect(await server.died()).toBe("SIGKILL");
    await begun;
    await server.restart({ RUNNEL_FAILPOINT: "" });

    const [{ id }] = (await server.get("/v1/runs")).body.data;
    const stream = await server.stream(`/v1/runs/${id}/events`);
    await stream.rest();
    const { body: run } = await server.get(`/v1/runs/${id}`);
    expect(run).toMatchObject({ status: "completed", output: "Done." });
    expect(run.tool_calls.map(({ output }: Json) => output.result)).toEqual([40, [42, 5004, 5000]]);
    const named = run.tool_calls.map(({ files }: Json) => files.map(({ filename }: Json) => filename));
    expect(named).toEqual([
      ["a.txt", "b.txt"],
      ["a.txt", "c.txt"],
    ]);
    const left: Record<string, string> = {};
    for (const { id, filename } of run.tool_calls.flatMap(({ files }: Json) => files))
      left[filename] = await (await server.fetch(`/v1/files/${id}/content`)).text();
    expect(left).toEqual(files);
    // Of attempts that came to nothing, no file is left.
    const ids = run.tool_calls.flatMap(({ files }: Json) => files.map(({ id }: Json) => id));
    const all = (await server.get("/v1/files?limit=100")).body.data.map(({ id }: Json) => id);
    expect(all.toSorted()).toEqual(ids.toSorted());
  });
});
