import { drainMicrotasks } from "bun:jsc";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { forgetLastId } from "../../domain/ids.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import { isOver, requireRun } from "../../domain/run-state.ts";
import { resetSlice } from "../../lib/cooperative-yield.ts";
import type { Db } from "../../storage/db/open.ts";
import { createWriter, type Leave } from "../../storage/db/writer.ts";
import type { Inserted } from "../../storage/journal/journal.ts";
import { runFixture } from "../run-fixture.ts";
import { createAccounts } from "./accounts.ts";
import { createClients, helpers } from "./clients.ts";
import { reachOf } from "./reach.ts";
import { createReaders } from "./readers.ts";
import { recordsOf } from "./records.ts";
import { createReleases, releaseTables } from "./releases.ts";
import { createSenders, senderTables } from "./senders.ts";
import { createSkills } from "./skills.ts";
import { takeOver } from "./take-over.ts";
import { createThreads } from "./threads.ts";
import { createWitness, type Fixture, slots } from "./witness.ts";
import { createWorld, Found, type Owner } from "./world.ts";

/** Number of lives, from seed 0 on, that are recorded. */
export const recordedLives = 300;

const runsMax = 5;
const faultsMax = 6;
// A life takes some hundred steps; one that takes this many is endless.
const stepsMax = 20_000;
// Queues move by events only: periodic polling would hide a forgotten run.
const never_ms = 2 ** 31;
// Context window so small that the messages before or in a run may exceed it.
const window = 900;
// Jobs of one tick share a commit, or each has one of its own: the code may rely on neither.
const slices_ms = [Number.POSITIVE_INFINITY, 0];

/**
 * Simulates one life of a server and its clients on an empty database, to the end of every run: the real service, pool,
 * engine, loop, journal and streams, while the seed decides which task is next and what fails. Throws the fault with
 * the history that led to it; the same seed gives the same history. At the end, `tell` receives every run.
 */
export function live(db: Db, seed: number, tell: Tell = () => {}): string[] {
  const world = createWorld(seed);
  const giveBack = takeOver(world);
  forgetLastId();
  resetSlice();
  try {
    createLife(db, world, tell).live();
    return world.history();
  } catch (error) {
    const { message } = error as Error;
    throw new Found(`seed ${seed}: ${message}\n${world.history().join("\n")}`, { cause: error });
  } finally {
    giveBack();
    forgetLastId();
    resetSlice();
    for (const table of tables) db.sqlite.run(`DELETE FROM ${table}`);
  }
}

/** Receives a run that is over: its journal, and its pinned agent. */
type Tell = (run: { entries: JournalEntry[]; agent: AgentSnapshot }) => void;

const ownTables = [
  "audit_log",
  "partial_records",
  "pending_calls",
  "run_events",
  "run_blobs",
  "blobs",
  "runs",
  "facts",
];
const tables = [...senderTables, ...releaseTables, ...ownTables];

function createLife(db: Db, world: ReturnType<typeof createWorld>, tell: Tell) {
  let fixture: Fixture;
  const refusal = refusalOf(db);
  let full = false;
  /** False until the runs of the last process are recovered, or wait for a full disk. */
  let isOpen = false;
  let faults = world.int(faultsMax + 1);
  const witness = createWitness(world, () => fixture);
  const skills = createSkills(world);
  const accounts = createAccounts(world, witness, () => fixture);
  const clients = createClients(world, skills, witness, accounts, () => fixture);
  const senders = createSenders(world, witness, () => fixture);
  const releases = createReleases(world, skills, witness, () => fixture);
  const readers = createReaders(world, witness, () => fixture);
  const threads = createThreads(world, reachOf(world, witness, accounts));
  const { ledgers } = witness;

  /** Starts the process on the database that the last one left. */
  function start(): void {
    threads.living.length = 0;
    const write = createWriter(db.sqlite, { endRead: db.snapshot.end, kept: db.kept, slice_ms: world.pick(slices_ms) });
    const refusing = <T>(job: () => T, owner?: string, touches?: "runs", leave?: Leave<T>): Promise<T> =>
      write(
        () => {
          if (full) throw refusal;
          return job();
        },
        owner,
        touches,
        leave && refusedAfter(leave),
      );
    const { flush, commits, timed, defer, hold, leaving } = write;
    const disk: Db = { ...db, write: Object.assign(refusing, { flush, commits, timed, defer, hold, leaving }) };
    fixture = runFixture({
      db: disk,
      threads: threads.factory,
      size: 2,
      slots,
      beat_ms: 20_000,
      look_ms: never_ms,
      agents: helpers,
      window,
      answer: recordsOf(world, skills),
      versionOf: releases.snapshot,
      chooseVersion: releases.choose,
      now: world.now,
    });
    senders.start();
    accounts.start();
    releases.start(disk);
    fixture.watches.listen(witness.committed);
    fixture.watches.listen((_, entries) => {
      for (const { event } of entries) if (event.type === "run.created") releases.judge(event);
    });
    isOpen = false;
    const opened = () => {
      isOpen = true;
      accounts.opened();
    };
    fixture.service.recover().then(opened, (error) => witness.found(`recovery failed: ${error}`));
  }

  /** Sometimes the commit fails after dependent work has started. */
  const refusedAfter =
    <T>(leave: Leave<T>): Leave<T> =>
    (value) => {
      const takeBack = leave(value);
      if (!takeBack) return null;
      const refused = () => {
        for (const [id] of value as Inserted[]) witness.toldInVain(id);
        takeBack();
      };
      if (!world.chance(0.05)) return refused;
      world.note("a commit is refused behind what went ahead of it");
      refused();
      throw refusal;
    };

  function crash(): void {
    world.note("the process dies");
    resetSlice();
    witness.dies();
    accounts.disturbed();
    world.restart();
    readers.cutOff();
    full &&= world.chance(0.7); // The disk may still be full when the next process starts.
    start();
  }

  async function stop(): Promise<void> {
    world.note("the process stops");
    isOpen = false;
    accounts.stop();
    fixture.service.stop();
    fixture.pool.stop();
    await fixture.runs.markCleanStop().catch(() => {}); // A full disk refused it: it counts as a crash.
    crash();
  }

  function fill(): void {
    world.note("the disk is full");
    accounts.disturbed();
    full = true;
  }

  function freeze(thread: Owner & { name: string }): void {
    world.note(`${thread.name} is stuck`);
    thread.frozen = true;
  }

  /** Causes one fault, or ends one. */
  function fault(): void {
    const stuck = threads.living.find(({ frozen }) => frozen);
    if (full || stuck) {
      world.note("what was stuck goes on");
      accounts.disturbed();
      full = false;
      if (stuck) stuck.frozen = false;
      return;
    }
    if (faults-- <= 0) return;
    const fate = world.random();
    const thread = world.pick(threads.living);
    if (fate < 0.35) crash();
    else if (fate < 0.45 && isOpen) void stop();
    else if (!thread || fate < 0.55) fill();
    else if (fate < 0.7) freeze(thread);
    else thread.die(world.chance(0.6));
  }

  const allStarted = () => clients.acknowledged.size >= runsMax || clients.attempts() >= 3 * runsMax;
  const isCalm = () => allStarted() && faults <= 0;

  function act(): void {
    const open = [...ledgers.values()].filter(({ state }) => !isOver(state.status));
    const fate = world.random();
    const waiting = clients.waiting();
    if (fate < 0.28) allStarted() || clients.create();
    else if (fate < 0.66) waiting.length > 0 && clients.answer(world.pick(waiting), isCalm());
    else if (fate < 0.69) cancelOne();
    else if (fate < 0.72) pauseOrResume();
    else if (fate < 0.76) open.length > 0 && clients.steer(world.pick(open));
    else if (fate < 0.78) clients.repeat();
    else if (fate < 0.83) senders.send(isCalm());
    else if (fate < 0.86) releases.move();
    else if (fate < 0.865) skills.publish();
    else if (fate < 0.88) accounts.takeBack();
    else if (fate < 0.94) open.length > 0 && readers.open(world.pick(open).id);
    else readers.toggle();
  }

  /** Pauses a run or lets one go on. Once all is calm, none is paused any more. */
  function pauseOrResume(): void {
    const open = [...ledgers.values()].filter(({ state }) => !isOver(state.status));
    const paused = open.filter(({ state }) => state.pause !== null);
    if (paused.length > 0 && (isCalm() || world.chance(0.6))) clients.resume(world.pick(paused));
    else if (open.length > 0 && !isCalm()) clients.pause(world.pick(open));
  }

  /** Cancels a run. Once all is calm, it cancels no queued run: that would hide a forgotten one. */
  function cancelOne(): void {
    const some = [...ledgers.values()].filter(({ state }) => state.status !== "queued" || !isCalm());
    if (some.length > 0) clients.cancel(world.pick(some));
  }

  function step(): void {
    const fate = world.random();
    if (fate < 0.02) fault();
    else if (fate < 0.15 && isOpen) act();
    else if (fate < 0.17) world.pass();
    else if (!world.work()) {
      if (isOpen) witness.idle();
      if (isOpen && !full) accounts.idle();
      if (world.chance(0.3)) world.pass();
    }
    drainMicrotasks();
    witness.complain();
  }

  /** Delivers everything that is pending. Returns false while something is left. */
  function rest(): boolean {
    full = false;
    for (const thread of threads.living) thread.frozen = false;
    const done = readers.finish();
    drainMicrotasks();
    if (world.work() || !done || fixture.pool.driving() > 0 || fixture.watches.size() > 0) {
      if (fixture.watches.size() > 0) world.pass();
      drainMicrotasks();
      witness.complain();
      return false;
    }
    return true;
  }

  return {
    live(): void {
      start();
      senders.install();
      releases.install(db);
      const isBusy = () =>
        !isCalm() || senders.isWaiting() || [...ledgers.values()].some(({ state }) => !isOver(state.status));
      for (let steps = 0; isBusy() || !rest(); steps++) {
        if (isBusy()) step();
        if (steps > stepsMax) throw witness.found("It does not come to an end.");
      }
      witness.rested();
      clients.rested();
      senders.rested();
      readers.rested();
      accounts.stop();
      for (const { entries, state } of ledgers.values())
        tell({ entries, agent: fixture.journal.snapshot(fixture.scope, requireRun(state).run.agent_hash) });
      fixture.service.stop();
      fixture.pool.stop();
    },
  };
}

/**
 * Returns the error of a storage that refuses a write. SQLite must make it, because its class cannot be constructed.
 */
function refusalOf({ sqlite }: Db): unknown {
  try {
    return sqlite.run("SELECT RAISE(ABORT, 'full')");
  } catch (error) {
    return error;
  }
}
