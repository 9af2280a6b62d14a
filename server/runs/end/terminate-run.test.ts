import { expect, test } from "bun:test";
import { AppError } from "../../domain/errors.ts";
import type { RunError } from "../../domain/run-event.ts";
import { fold } from "../../domain/run-state.ts";
import { agentTool, runFixture, tool } from "../../testing/run-fixture.ts";
import { createChildStatuses } from "../dispatch/child-status.ts";
import { createOrphanedRuns } from "../recovery/orphaned-runs.ts";
import { RunSubscriptions } from "../stream/run-subscriptions.ts";
import { createRunTerminator } from "./terminate-run.ts";

const look = { tool_calls: [{ name: "look", arguments: {} }] };
const error: RunError = {
  type: "run_error",
  code: "run_timeout",
  message: "Too long.",
  step_index: null,
  retryable: false,
};

/** The run terminator of a fixture, without a pool. */
function endsOf(fixture: ReturnType<typeof runFixture>) {
  const { journal, runs } = fixture;
  const watches = new RunSubscriptions();
  const lost = createOrphanedRuns();
  const children = createChildStatuses({ journal, runs });
  const ends = createRunTerminator({ journal, watches, runs, lost, children, now: Date.now });
  const types = (id: string, from: number): string[] => journal.read(id, from).map(({ event }) => event.type);
  return { lost, ends, types };
}

test("a run ends after its descendants, in one write", async () => {
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

test("a run without a loop ends with its recovery, so that readers learn which text is void; other runs end without", async () => {
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

test("a finished run is not cancelled", () => {
  using fixture = runFixture();
  const { ends } = endsOf(fixture);
  expect(() => ends.cancelled({ id: "run_any", status: "completed" }, null)).toThrow(AppError);
});
