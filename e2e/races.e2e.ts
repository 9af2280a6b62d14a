import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type ParsedResponse, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";

// Concurrent requests: each gets the resulting state, and one of them wins.

/** Returns a response in short: `200` and the run's status, or the status and the error code. */
const outcomeOf = ({ status, body }: ParsedResponse): string =>
  `${status} ${status === 200 ? body.status : body.error.code}`;

async function eventsOf(server: Runnel, id: string): Promise<string[]> {
  const { body } = await server.get(`/v1/runs/${id}/events?limit=100`);
  return body.data.map(({ event }: Json) => event);
}

test("of 50 cancels among 50 answers to one run, one side wins, and every request is told so", async () => {
  await using server = await startRunnel();
  const tool = await createTool(server);
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
  const agent = await createScripted(server, script, { tools: [tool.id] });
  for (let round = 0; round < 10; round++) {
    const run = await runToEnd(server, agent);
    const [call] = run.required_action.submit_tool_outputs.tool_calls;
    const submit = (output: number) =>
      server.post(`/v1/runs/${run.id}/submit_tool_outputs`, {
        tool_outputs: [{ tool_call_id: call.tool_call_id, output }],
      });
    const cancel = () => server.post(`/v1/runs/${run.id}/cancel`, {});
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const isCancel = (index + round) % 2 === 0;
        return { isCancel, said: outcomeOf(await (isCancel ? cancel() : submit(index))) };
      }),
    );
    const events = await eventsOf(server, run.id);
    const { body: end } = await server.get(`/v1/runs/${run.id}`);
    expect(events.filter((event) => ["run.completed", "run.failed"].includes(event))).toEqual(events.slice(-1));
    expect(["cancelled", "completed"]).toContain(end.status);
    const cancels = new Set(answers.filter(({ isCancel }) => isCancel).map(({ said }) => said));
    expect([...cancels]).toEqual([end.status === "cancelled" ? "200 cancelled" : "409 run_already_terminal"]);
    const taken = answers.filter(({ isCancel, said }) => !isCancel && said.startsWith("200"));
    expect(taken).toHaveLength(end.tool_calls[0].status === "completed" ? 1 : 0);
    for (const { isCancel, said } of answers)
      if (!isCancel && !said.startsWith("200"))
        expect(["409 run_not_awaiting_action", "409 tool_call_already_resolved"]).toContain(said);
  }
});

test("two identical answers at once are one answer, and both are told yes", async () => {
  await using server = await startRunnel();
  const tool = await createTool(server);
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
  const run = await runToEnd(server, await createScripted(server, script, { tools: [tool.id] }));
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, output: { sky: "clear" } }];
  const both = await Promise.all(
    [1, 2].map(() => server.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs })),
  );
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect((await eventsOf(server, run.id)).filter((event) => event === "tool.completed")).toHaveLength(1);
});

test("of 100 runs started at once with a limit of 20, exactly 20 are, and 20 more when those are over", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  limitRuns(server, 20);
  const agent_id = await createAgent(server, "never-answers");
  for (let round = 0; round < 2; round++) {
    const started = await Promise.all(
      Array.from({ length: 100 }, () => server.post("/v1/runs", { agent_id, input: "Go" })),
    );
    const accepted = started.filter(({ status }) => status === 201);
    expect(accepted).toHaveLength(20);
    for (const answer of started.filter(({ status }) => status !== 201)) {
      expect(outcomeOf(answer)).toBe("429 concurrency_limit_exceeded");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    const ends = await Promise.all(accepted.map(({ body }) => server.post(`/v1/runs/${body.id}/cancel`, {})));
    expect(new Set(ends.map(outcomeOf))).toEqual(new Set(["200 cancelled"]));
  }
});

/** Limits the number of runs in progress, in every project. */
function limitRuns({ dataDir }: Runnel, runs_in_progress: number): void {
  const db = new Database(join(dataDir, "runnel.db"));
  db.run("PRAGMA busy_timeout = 5000");
  db.query("UPDATE projects SET settings = json_set(settings, '$.runs_in_progress', ?)").run(runs_in_progress);
  db.close();
}
