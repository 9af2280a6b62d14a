import type { CounterName } from "../../e2e/chaos/judge.ts";
import type { ClusterCounter, LeaderFault } from "../../e2e/cluster/storm.ts";

/** A fault injected into the sources: a storm that does not detect it proves nothing. */
interface Fault {
  name: string;
  file: string;
  /** Text that occurs in the file exactly once. */
  find: string;
  replace: string;
}

export interface Mutant extends Fault {
  /** The counter that must detect it. */
  caughtBy: CounterName;
}

/** A fault that only cluster nodes can have. */
export interface ClusterMutant extends Fault {
  /** Counters of which at least one must detect it. */
  caughtBy: readonly ClusterCounter[];
  /** Ways of ending leaders that trigger it, repeated. */
  ways: readonly LeaderFault[];
}

/** A fault of a module that the module's test must detect. */
export interface UnitMutant extends Fault {
  /** The counter by which a storm detects it as well; absent: its moment is too short for a storm. */
  caughtBy?: CounterName;
  /** File and title of the test that detects it; the title is a regular expression. */
  test: readonly [file: string, title: string];
}

export const mutants: readonly Mutant[] = [
  {
    name: "recovery ignores stored results",
    caughtBy: "repeated",
    file: "server/runtime/agent-loop/run-loop.ts",
    find: `  for (;;) {
    const next = decide(`,
    replace: `  for (const call of state.calls.filter((call) => state.attempt > 1 && call.status === "completed" && !call.submitted))
    await ports.runTool(call, start.agent.tools.find(({ id }) => id === call.tool_id)!, signal, Promise.resolve(), {
      standing: () => ({ agent_id: start.agent.id, budget: null, usage: state.usage }),
      workspace: () => null,
    });
  for (;;) {
    const next = decide(`,
  },
  {
    name: "no at-most-once check",
    caughtBy: "unsafe",
    file: "server/runtime/agent-loop/run-tools.ts",
    find: `if (afterFailure("sent", tool) !== "repeat") {`,
    replace: "if (!tool) {",
  },
  {
    name: "a result and its event in two transactions",
    caughtBy: "torn",
    file: "server/runtime/agent-loop/run-tools.ts",
    find: `  await turn.record(
    ...completeCall(call, result),`,
    replace: `  const apart = async (...events: Parameters<RunContext["record"]>) => {
    for (const event of events) await turn.record(event);
  };
  await apart(
    ...completeCall(call, result),`,
  },
  {
    name: "publish before commit",
    caughtBy: "unrecorded",
    file: "server/storage/db/writer.ts",
    find: `      begin.run();
      kept.look();
      for (const queued of waiting) {
        const outcome = run(this.#sqlite, queued, this.#finish);
        outcomes.push(outcome);
        if (!outcome.ok) this.#forget();
        if (performance.now() >= until) break;
      }
      this.#finish();
      if (!committed) this.#sendAhead(outcomes, undo);
      const done = performance.now();
      commit.run();`,
    replace: `      if (!this.#sqlite.inTransaction) begin.run();
      for (const queued of waiting) outcomes.push(run(this.#sqlite, queued, this.#finish));
      this.#finish();
      const done = performance.now();
      setTimeout(() => this.#sqlite.inTransaction && commit.run(), 5);`,
  },
  {
    name: "a resumed stream that forgets its offset",
    caughtBy: "misread",
    file: "server/runs/stream/stream.ts",
    find: `      if (end <= offset) continue;
      text += dialect.token({ kind, text: whole.slice(Math.max(0, whole.length - (end - offset))), end }, of);`,
    replace: "      text += dialect.token({ kind, text: whole, end }, of);",
  },
  {
    name: "an event noted after the commit",
    caughtBy: "unheard",
    file: "server/resources/webhooks/outbox.ts",
    find: "    if (announced.length === 0) return;",
    replace: `    if (announced.length === 0) return;
    const later = ((globalThis as { later?: WeakSet<object> }).later ??= new WeakSet());
    if (!later.has(entries)) return void setTimeout(project, 20, run, later.add(entries) && entries);`,
  },
  {
    name: "usage that is added behind the commit",
    caughtBy: "uncounted",
    file: "server/storage/db/writer.ts",
    find: `      this.#finish();
      if (!committed) this.#sendAhead(outcomes, undo);
      const done = performance.now();
      commit.run();`,
    replace: `      if (!committed) this.#sendAhead(outcomes, undo);
      const done = performance.now();
      commit.run();`,
  },
  {
    name: "rows in memory that outlive a change",
    caughtBy: "stale",
    file: "server/storage/db/row-cache.ts",
    find: "  const forget = (): void => void generation++;",
    replace: "  const forget = (): void => {};",
  },
  {
    name: "a loop that goes on after a pause was requested",
    caughtBy: "restless",
    file: "server/domain/decide.ts",
    find: '(pausesNow(state) ? record([{ type: "run.paused" }]) : then());',
    replace: "then();",
  },
];

export const clusterMutants: readonly ClusterMutant[] = [
  {
    name: "told before the engine has it",
    caughtBy: ["lost", "repeated", "gaps", "refused"],
    ways: ["unheard"],
    file: "server/storage/replication/shipper.ts",
    find: "    if (!before) this.#last = Promise.all([this.#last, told.promise]).then(() => {});\n",
    replace: "",
  },
  {
    name: "a row that goes in whatever its epoch",
    caughtBy: ["unfenced"],
    ways: ["paused"],
    file: "server/storage/replication/leader-lease.ts",
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
    file: "server/storage/replication/node.ts",
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

/** Faults that the module's test always detects; a storm detects some of them too, and the others only now and then. */
export const unitMutants: readonly UnitMutant[] = [
  {
    test: ["server/runs/dispatch/pool.test.ts", "a model is called while the commit of its step is in progress"],
    name: "tools that are called ahead of the commit",
    file: "server/runs/dispatch/append-handler.ts",
    find: "callsModel ? confirmEarly : undefined",
    replace: "confirmEarly",
  },
  {
    test: ["server/runs/dispatch/pool.test.ts", "work based on a commit that failed is refused"],
    name: "a loop that goes on with what did not commit",
    file: "server/runs/dispatch/append-handler.ts",
    find: "      if (misled.get(run_id) === attempt) throw new AppendRefused(",
    replace: "      if (attempt < 0) throw new AppendRefused(",
  },
  {
    test: ["server/runs/steer/steer-recovery.test.ts", "each message is taken once and in order"],
    name: "a message of the user that a crash loses",
    caughtBy: "unsaid",
    file: "server/domain/run-state.ts",
    find: "      return { attempt: event.attempt, stalls: ",
    replace: "      return { held: [], attempt: event.attempt, stalls: ",
  },
  {
    test: ["server/runs/steer/steer-recovery.test.ts", "each message is taken once and in order"],
    name: "a message of the user that is taken twice",
    caughtBy: "echoed",
    file: "server/domain/steering.ts",
    find: "    held: [],\n    ...toRead(state, held),",
    replace: "    ...toRead(state, held),",
  },
  {
    test: ["server/runs/steer/steer.test.ts", "of a message and the end of the run, exactly one is first"],
    name: "a run that ends in ignorance of a message",
    file: "server/runs/dispatch/append-handler.ts",
    find: "      return events.slice(0, facts);",
    replace: "      return events;",
  },
  {
    test: ["server/resources/agents/handoffs.test.ts", "the next agent reads what its thread had before"],
    name: "a handoff that forgets the thread",
    caughtBy: "forgotten",
    file: "server/domain/prompt.ts",
    find: "conversationFor(handoff, sentParts(beforeHandoff(state, handoff)), state.calls);",
    replace: "conversationFor(handoff, { ...sentParts(beforeHandoff(state, handoff)), before: [] }, state.calls);",
  },
  {
    test: ["server/runs/pause/pause.test.ts", "a requested pause is not forgotten"],
    name: "a pause that a recovery forgets",
    file: "server/runs/recovery/recovery.ts",
    find: 'return state.pause ? [recovered, { type: "run.paused" }] : [recovered];',
    replace: 'return state.pause ? [recovered, { type: "run.pause_cancelled" }] : [recovered];',
  },
  {
    test: ["server/resources/triggers/crash.test.ts", "an event that comes several times makes one run"],
    name: "an event that is noted after its run",
    caughtBy: "doubled",
    file: "server/resources/triggers/receive.ts",
    find: `        deliveries.keepEvent(row, keys, run.id);
        deliveries.add(row, { outcome: "started", status: statusOf(row, "started"), run_id: run.id, reason: null });
        failpoint?.("before_trigger.started");
      });`,
    replace: `        deliveries.add(row, { outcome: "started", status: statusOf(row, "started"), run_id: run.id, reason: null });
      });
      await db.write(() => deliveries.keepEvent(row, keys, id));`,
  },
  {
    test: ["server/resources/labels/label-recovery.test.ts", "a run keeps the version of its label over a crash"],
    name: "a label that a recovery reads again",
    file: "server/storage/journal/journal.ts",
    find: "    return parseExact(this.#codec.get(scope, hash));",
    replace: `    const { id } = parseExact(this.#codec.get(scope, hash)) as AgentSnapshot;
    const newest = this.#options.db.sqlite.query<{ hash: string }, string>(
      "SELECT data ->> 'agent_hash' AS hash FROM run_events WHERE type = 'run.created' AND data ->> 'agent_id' = ? ORDER BY run_id DESC",
    );
    return parseExact(this.#codec.get(scope, newest.get(id)?.hash ?? hash)) as AgentSnapshot;`,
  },
  {
    test: ["server/runs/consent/consent-matrix.test.ts", "the token of a user is used in runs of this user only"],
    name: "a token of the user who consented first",
    caughtBy: "foreign",
    file: "server/resources/oauth/grant-store.ts",
    find: "AND oauth_client_id = ? AND ifnull(user_id, '') = ?`",
    replace: "AND oauth_client_id = ? AND (ifnull(user_id, '') = ? OR TRUE)`",
  },
  {
    test: [
      "server/storage/replication/wal-reader.test.ts",
      "a transaction that had spilled into the WAL and was rolled back is never shipped",
    ],
    name: "the log's end by salts",
    file: "server/storage/replication/wal-reader.ts",
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
      "server/storage/replication/output-fence.test.ts",
      "requests that wait when Postgres becomes unavailable fail, and so do later ones",
    ],
    name: "answers that do not wait for the engine",
    file: "server/storage/replication/output-fence.ts",
    find: "    answering: (handle, away) => async (request) => {",
    replace: `    answering: (handle, away) => async (request) => {
      if (!ship.isStalled()) return await handle(request);`,
  },
];

const isOfStorm = (mutant: UnitMutant): mutant is UnitMutant & Mutant => mutant.caughtBy !== undefined;

/** Faults that a storm must detect. */
export const stormMutants: readonly Mutant[] = [...mutants, ...unitMutants.filter(isOfStorm)];

/** Returns the source with the fault in it. Throws if the text does not occur exactly once any more. */
export function mutate(source: string, { name, file, find, replace }: Fault): string {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`"${name}" fits ${parts.length - 1} places of ${file}, and not one.`);
  return parts.join(replace);
}
