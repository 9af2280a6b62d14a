import { createScripted, createTool } from "../../e2e/fixtures.ts";
import type { Json, ParsedResponse, Runnel } from "../../e2e/harness.ts";

export type Load = Awaited<ReturnType<typeof startLoad>>;

const text = "a stream that is small carries every leaf it is given down to the sea ".repeat(3).trim();

/**
 * Starts all client operations, at a pace that leaves the machine idle time: reads, runs, streams, cancels, answers.
 */
export async function startLoad(server: Runnel) {
  const tool = await createTool(server);
  const call = { tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] };
  const talker = await createScripted(server, [{ reasoning: "Let me think.", text, delta_ms: 5 }]);
  const asker = await createScripted(server, [call, { text }], { tools: [tool.id] });
  const errors: string[] = [];
  const reads_ms: number[] = [];
  const known: string[] = []; // Ids of readable runs.
  const counts = { requests: 0, runs: 0, streams: 0 };
  let stopped = false;

  function remember(id: string): void {
    counts.runs++;
    if (known.push(id) > 1000) known.shift();
  }
  const some = () => known[Math.floor(Math.random() * known.length)];

  function expectStatus({ status, body }: ParsedResponse, ...wanted: number[]): Json {
    counts.requests++;
    if (!wanted.includes(status)) throw new Error(`${status} ${JSON.stringify(body).slice(0, 200)}`);
    return body;
  }

  async function read(): Promise<void> {
    const id = some();
    if (!id) return;
    const paths = [`/v1/runs/${id}`, "/v1/runs?limit=20", `/v1/traces/${id}`, `/v1/runs/${id}/events?limit=50`];
    expectStatus(await server.get(paths[Math.floor(Math.random() * paths.length)]!), 200);
  }

  /** Measures a read, which includes the event loop's delay. */
  async function probe(): Promise<void> {
    const began = performance.now();
    expectStatus(await server.get(`/v1/agents/${talker}`), 200);
    reads_ms.push(performance.now() - began);
  }

  /** Reads a stream half way, disconnects, and reads the rest. */
  async function stream(): Promise<void> {
    counts.streams++;
    await using first = await server.stream("/v1/runs", { body: { agent_id: talker, input: "Go", stream: true } });
    const { data } = await first.until((frame) => frame.event === "token" && frame.data.offset > text.length / 2);
    await first.close();
    await using rest = await server.stream(`/v1/runs/${data.run_id}/events`, { after: first.lastId() });
    const last = [...first.frames, ...(await rest.rest())].at(-1);
    if (last?.event !== "run.completed" || last.data.output !== text) throw new Error(`It ended with ${last?.event}.`);
    remember(data.run_id);
  }

  async function cancel(): Promise<void> {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = JSON.stringify({ agent_id: talker, input: "Go" });
    const { id } = (await (await server.fetch("/v1/runs", { method: "POST", body, headers })).json()) as { id: string };
    await Bun.sleep(Math.random() * 300);
    expectStatus(await server.post(`/v1/runs/${id}/cancel`, {}), 200, 409); // The run may be over by now.
    remember(id);
  }

  async function submit(): Promise<void> {
    const asked = expectStatus(await server.post("/v1/runs?wait=30", { agent_id: asker, input: "Go" }), 201);
    const [{ tool_call_id: id }] = asked.required_action.submit_tool_outputs.tool_calls;
    const tool_outputs = [{ tool_call_id: id, output: { sky: "clear" } }];
    expectStatus(await server.post(`/v1/runs/${asked.id}/submit_tool_outputs`, { tool_outputs }), 200);
    remember(asked.id);
  }

  async function repeat(act: () => Promise<void>, pause_ms: number): Promise<void> {
    while (!stopped) {
      await act().catch((error: Error) => errors.push(`${act.name}: ${error.message}`));
      await Bun.sleep(pause_ms * (0.5 + Math.random()));
    }
  }

  const loops = [
    repeat(probe, 100),
    ...Array.from({ length: 10 }, () => repeat(read, 100)),
    ...Array.from({ length: 10 }, () => repeat(stream, 200)),
    ...Array.from({ length: 4 }, () => repeat(cancel, 200)),
    ...Array.from({ length: 4 }, () => repeat(submit, 200)),
  ];
  return {
    errors,
    counts,
    /** Returns the durations of the reads since the last call. */
    takeReads: (): number[] => reads_ms.splice(0),
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(loops);
    },
  };
}
