import type { CounterName } from "../../e2e/storm/judge.ts";

/** A fault put into the sources on purpose: a storm that does not see it proves nothing. */
export interface Mutant {
  name: string;
  /** The counter that must see it. */
  caughtBy: CounterName;
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  replace: string;
}

export const mutants: readonly Mutant[] = [
  {
    name: "recovery ignores stored results",
    caughtBy: "repeated",
    file: "server/worker/run-loop.ts",
    find: `  for (;;) {
    const next = decide(`,
    replace: `  for (const call of state.calls.filter((call) => state.attempt > 1 && call.status === "completed" && !call.submitted))
    await ports.runTool(call, start.agent.tools.find(({ id }) => id === call.tool_id)!, signal, Promise.resolve());
  for (;;) {
    const next = decide(`,
  },
  {
    name: "no at-most-once check",
    caughtBy: "unsafe",
    file: "server/worker/run-tools.ts",
    find: `if (afterFailure("sent", tool) !== "repeat") {`,
    replace: "if (!tool) {",
  },
  {
    name: "a result and its event in two transactions",
    caughtBy: "torn",
    file: "server/worker/run-tools.ts",
    find: `  await turn.record(
    ...settleCall(call, result),`,
    replace: `  const apart = async (...events: Parameters<Turn["record"]>) => {
    for (const event of events) await turn.record(event);
  };
  await apart(
    ...settleCall(call, result),`,
  },
  {
    name: "publish before commit",
    caughtBy: "unrecorded",
    file: "server/db/writer.ts",
    find: `      begin!.run();
      kept.look();
      for (const { job } of waiting) {
        outcomes.push(run(sqlite, job, finish));
        if (!outcomes.at(-1)!.ok) forget();
        if (performance.now() >= until) break;
      }
      finish();
      const done = performance.now();
      end!.run();`,
    replace: `      if (!sqlite.inTransaction) begin!.run();
      for (const { job } of waiting) outcomes.push(run(sqlite, job, finish));
      finish();
      const done = performance.now();
      setTimeout(() => sqlite.inTransaction && end!.run(), 5);`,
  },
  {
    name: "a resumed stream that forgets its offset",
    caughtBy: "misread",
    file: "server/runs/stream.ts",
    find: "    if (end > offset) yield { kind, text: text.slice(Math.max(0, text.length - (end - offset))), end };",
    replace: "    yield { kind, text, end };",
  },
  {
    name: "an event noted after the commit",
    caughtBy: "unheard",
    file: "server/webhooks/outbox.ts",
    find: "    if (announced.length === 0) return;",
    replace: `    if (announced.length === 0) return;
    const later = (globalThis.later ??= new WeakSet());
    if (!later.has(entries)) return void setTimeout(project, 20, run, later.add(entries) && entries);`,
  },
  {
    name: "usage that is added behind the commit",
    caughtBy: "uncounted",
    file: "server/db/writer.ts",
    find: `      finish();
      const done = performance.now();
      end!.run();`,
    replace: `      const done = performance.now();
      end!.run();`,
  },
  {
    name: "rows in memory that outlive a change",
    caughtBy: "stale",
    file: "server/db/kept.ts",
    find: "  const forget = (): void => void generation++;",
    replace: "  const forget = (): void => {};",
  },
];

/** The source with the fault in it. Throws when it does not stand there exactly once any more. */
export function mutate(source: string, { name, file, find, replace }: Mutant): string {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`"${name}" fits ${parts.length - 1} places of ${file}, and not one.`);
  return parts.join(replace);
}
