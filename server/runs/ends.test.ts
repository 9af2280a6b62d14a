import { expect, test } from "bun:test";
import { AppError } from "../core/errors.ts";
import type { RunError } from "../core/run-event.ts";
import { fold } from "../core/run-state.ts";
import { agentTool, runFixture, tool } from "../testing/run-fixture.ts";
import { createChildStandings } from "./child-standings.ts";
import { createEnds } from "./ends.ts";
import { createLostRuns } from "./lost-runs.ts";

const look = { tool_calls: [{ name: "look", arguments: {} }] };
const error: RunError = {
  type: "run_error",
  code: "run_timeout",
  message: "Too long.",
  step_index: null,
  retryable: false,
};

/** How runs of a fixture end, with nothing that drives them. */
function endsOf(fixture: ReturnType<typeof runFixture>) {
  const { journal, runs } = fixture;
  const watches = { live: () => null };
  const lost = createLostRuns();
  const children = createChildStandings({ journal, runs });
  const ends = createEnds({ journal, watches, runs, lost, children, now: Date.now });
  const types = (id: string, from: number): string[] => journal.read(id, from).map(({ event }) => event.type);
  return { lost, ends, types };
}

test("a run ends after those that work for it, in one write", async () => {
  using fixture = runFixture({ agents: { agt_child: { settings: { script: [look] }, tools: [tool("look")] } } });
  const { id } = await fixture.start([{ tool_calls: [{ name: "child", arguments: { input: "Look." } }] }], {
    tools: [agentTool("child", "agt_child")],
  });
  await fixture.settled(id);
  const { ends } = endsOf(fixture);
  const inserted = await fixture.journal.commitAll(() => ends.failed(fold(fixture.journal.read(id)), error));
  const [child] = fixture.runs.below(id);
  expect(inserted.map(([run]) => run)).toEqual([child!, id]);
  expect(inserted.map(([, entries]) => entries.at(-1)!.event.type)).toEqual(["run.cancelled", "run.failed"]);
});

test("a run whose loop is gone ends with its recovery, so that its readers learn what is void, and another without", async () => {
  using fixture = runFixture({ threads: () => ({ separate: false, send() {}, end() {} }) });
  const { lost, ends, types } = endsOf(fixture);
  lost.allKnown();
  const cancelled = async (isLost: boolean) => {
    const { id } = await fixture.start([{ text: "Hello." }]);
    if (isLost) lost.add(id);
    const before = fixture.journal.head(id)!.seq;
    await fixture.journal.commitAll(() => ends.cancelled({ id, status: "in_progress" }, null));
    return types(id, before);
  };
  const end = ["step.completed", "run.cancelled"];
  expect(await cancelled(true)).toEqual(["run.recovered", "step.restarted", ...end]);
  expect(await cancelled(false)).toEqual(end);
});

test("a run that is over is not cancelled", () => {
  using fixture = runFixture();
  const { ends } = endsOf(fixture);
  expect(() => ends.cancelled({ id: "run_any", status: "completed" }, null)).toThrow(AppError);
});
