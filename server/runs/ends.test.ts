import { expect, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import type { RunError } from "../core/run-event.ts";
import { fold } from "../core/run-state.ts";
import { agentTool, runBench, tool } from "../testing/run-bench.ts";
import { createChildStandings } from "./child-standings.ts";
import { createEnds } from "./ends.ts";
import { createLostRuns } from "./lost-runs.ts";

const look = { tool_calls: [{ name: "look", arguments: {} }] };
const error: RunError = {
  ...{ type: "run_error", code: "run_timeout", message: "Too long.", step_index: null, retryable: false },
};

/** How runs of a bench end, with nothing that drives them. */
function endsOf(bench: ReturnType<typeof runBench>) {
  const { journal, runs } = bench;
  const watches = { live: () => null };
  const lost = createLostRuns();
  const children = createChildStandings({ journal, runs });
  const ends = createEnds({ journal, watches, runs, lost, children, now: Date.now });
  const types = (id: string, from: number): string[] => journal.read(id, from).map(({ event }) => event.type);
  return { lost, ends, types };
}

test("a run ends after those that work for it, in one write", async () => {
  using bench = runBench({ agents: { agt_child: { settings: { script: [look] }, tools: [tool("look")] } } });
  const { id } = await bench.start([{ tool_calls: [{ name: "child", arguments: { input: "Look." } }] }], {
    tools: [agentTool("child", "agt_child")],
  });
  await bench.settled(id);
  const { ends } = endsOf(bench);
  const inserted = await bench.journal.commitAll(() => ends.failed(fold(bench.journal.read(id)), error));
  const [child] = bench.runs.below(id);
  expect(inserted.map(([run]) => run)).toEqual([child!, id]);
  expect(inserted.map(([, entries]) => entries.at(-1)!.event.type)).toEqual(["run.cancelled", "run.failed"]);
});

test("a run whose loop is gone ends with its recovery, so that its readers learn what is void, and another without", async () => {
  using bench = runBench({ threads: () => ({ separate: false, send() {}, end() {} }) });
  const { lost, ends, types } = endsOf(bench);
  lost.allKnown();
  const cancelled = async (isLost: boolean) => {
    const { id } = await bench.start([{ text: "Hello." }]);
    if (isLost) lost.add(id);
    const before = bench.journal.head(id)!.seq;
    await bench.journal.commitAll(() => ends.cancelled({ id, status: "in_progress" }, null));
    return types(id, before);
  };
  const end = ["step.completed", "run.cancelled"];
  expect(await cancelled(true)).toEqual(["run.recovered", "step.restarted", ...end]);
  expect(await cancelled(false)).toEqual(end);
});

test("a run that is over is not cancelled", () => {
  using bench = runBench();
  const { ends } = endsOf(bench);
  expect(() => ends.cancelled({ id: "run_any", status: "completed" }, null)).toThrow(AppError);
});
