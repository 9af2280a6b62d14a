import type { ClusterCounter, Way } from "../../e2e/cluster/storm.ts";
import type { CounterName } from "../../e2e/storm/judge.ts";

/** A fault put into the sources on purpose: a storm that does not see it proves nothing. */
interface Fault {
  name: string;
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  replace: string;
}

export interface Mutant extends Fault {
  /** The counter that must see it. */
  caughtBy: CounterName;
}

/** A fault of what only nodes of a cluster do. */
export interface ClusterMutant extends Fault {
  /** Counters that must see it, one of them at least. */
  caughtBy: readonly ClusterCounter[];
  /** How leaders end in a storm that brings it out, over and over. */
  ways: readonly Way[];
}

/** A fault of a part that a test of it must see. */
export interface UnitMutant extends Fault {
  /** The file of the test that sees it, and the test's title, which is read as a pattern. */
  test: readonly [file: string, title: string];
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
      if (!committed) sendAhead(waiting, outcomes, left);
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
    find: `      if (end <= offset) continue;
      text += dialect.token({ kind, text: said.slice(Math.max(0, said.length - (end - offset))), end }, of);`,
    replace: "      text += dialect.token({ kind, text: said, end }, of);",
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
      if (!committed) sendAhead(waiting, outcomes, left);
      const done = performance.now();
      end!.run();`,
    replace: `      if (!committed) sendAhead(waiting, outcomes, left);
      const done = performance.now();
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

export const clusterMutants: readonly ClusterMutant[] = [
  {
    name: "told before the engine has it",
    caughtBy: ["lost", "repeated", "gaps", "refused"],
    ways: ["unheard"],
    file: "server/cluster/shipper.ts",
    find: "      if (!next) last = Promise.all([last, told.promise]).then(() => {});\n",
    replace: "",
  },
  {
    name: "a row that goes in whatever its epoch",
    caughtBy: ["unfenced"],
    ways: ["paused"],
    file: "server/cluster/shipper.ts",
    find: `WHERE id = $1 AND epoch = $2 AND head = $3 - 1 RETURNING id
    )\${others} INSERT INTO runnel_log (cell, seq, epoch, frames) SELECT id, $3, $2, $4 FROM mine RETURNING seq\`;
  return {
    lease_ms,
    asked: \`UPDATE runnel_cells SET \${leased(lease_ms)} WHERE id = $1 AND epoch = $2 RETURNING head\`,`,
    replace: `WHERE id = $1 AND epoch >= $2 AND head = $3 - 1 RETURNING id
    )\${others} INSERT INTO runnel_log (cell, seq, epoch, frames) SELECT id, $3, $2, $4 FROM mine RETURNING seq\`;
  return {
    lease_ms,
    asked: \`UPDATE runnel_cells SET \${leased(lease_ms)} WHERE id = $1 AND epoch >= $2 RETURNING head\`,`,
  },
  {
    name: "a former leader that keeps its database",
    caughtBy: ["lost", "refused", "damaged"],
    ways: ["returned"],
    file: "server/cluster/node.ts",
    find: `followed.head = headOf(await readCell(sql, followed.candidate));
    return true;
  });
  if (!first) throw new ClusterError(\`The engine cannot be used: \${engine.fault()}\`);
  let isStopped = false;
  let folder = checkFolder(options, all);`,
    replace: `{
      const row = await readCell(sql, followed.candidate);
      followed.head = headOf(row);
      if (row && existsSync(database)) followed.at = { seq: row.head, epoch: row.epoch };
    }
    return true;
  });
  if (!first) throw new ClusterError(\`The engine cannot be used: \${engine.fault()}\`);
  let isStopped = false;
  let folder = all[0]!.at ? { isCopy: true, own: null } : checkFolder(options, all);`,
  },
];

/** A storm sees these now and then: their moment is too short. A test of the part sees each time. */
export const unitMutants: readonly UnitMutant[] = [
  {
    test: ["server/runs/pool.test.ts", "a model is asked while the commit of its step is under way"],
    name: "tools that are called ahead of the commit",
    file: "server/runs/loop-appends.ts",
    find: "callsModel ? ahead : undefined",
    replace: "ahead",
  },
  {
    test: ["server/runs/pool.test.ts", "what a loop does on the strength of a commit that failed is refused"],
    name: "a loop that goes on with what did not commit",
    file: "server/runs/loop-appends.ts",
    find: "      if (misled.get(run_id) === attempt) throw new AppendRefused(",
    replace: "      if (attempt < 0) throw new AppendRefused(",
  },
  {
    test: [
      "server/cluster/capture.test.ts",
      "of a transaction that had spilled into the log and was rolled back nothing is taken",
    ],
    name: "the log's end by salts",
    file: "server/cluster/capture.ts",
    find: "      if (end) return { log: files.log, end };",
    replace: `      if (!end) continue;
      const frame = Buffer.alloc(frameHead_bytes);
      const hasSalt = (n: number) =>
        readSync(files!.log, frame, 0, frame.length, logHead_bytes + n * frame_bytes) === frame.length &&
        frame.toString("hex", 8, 16) === end.salt;
      let frames = end.frames;
      while (hasSalt(frames)) frames++;
      if (frames > 0) hasSalt(frames - 1);
      const checksum = [frame.readUInt32BE(16), frame.readUInt32BE(20)] as const;
      return { log: files.log, end: { ...end, frames, checksum } };`,
  },
  {
    test: [
      "server/cluster/ways-out.test.ts",
      "who waits when the engine goes away is told so, and so is who comes then",
    ],
    name: "answers that do not wait for the engine",
    file: "server/cluster/ways-out.ts",
    find: "    answering: (handle, away) => async (request) => {",
    replace: `    answering: (handle, away) => async (request) => {
      if (!ship.isStalled()) return await handle(request);`,
  },
];

/** The source with the fault in it. Throws when it does not stand there exactly once any more. */
export function mutate(source: string, { name, file, find, replace }: Fault): string {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`"${name}" fits ${parts.length - 1} places of ${file}, and not one.`);
  return parts.join(replace);
}
