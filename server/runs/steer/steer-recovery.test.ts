import { expect, test } from "bun:test";
import { isOver } from "../../domain/run-state.ts";
import type { Db } from "../../storage/db/open.ts";
import { copyDatabase } from "../../testing/copy-database.ts";
import { runFixture, tool } from "../../testing/run-fixture.ts";

type Fixture = ReturnType<typeof runFixture>;

/** Answers all calls of a run until it is over. */
async function toTheEnd(fixture: Fixture, id: string) {
  for (;;) {
    const run = await fixture.settled(id);
    if (isOver(run.status)) return run;
    const { tool_calls } = run.required_action!.submit_tool_outputs;
    const answers = tool_calls.map((call) => ({ tool_call_id: call.tool_call_id, output: "blue" }));
    await fixture.service.submit(fixture.scope, id, answers);
  }
}

/** Notes of the requests that were done, in the database, as an Idempotency-Key does. */
const createNotes = ({ db }: Pick<Fixture, "db">) => {
  db.sqlite.run("CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY)");
  return {
    has: (name: string): boolean => db.sqlite.query("SELECT 1 FROM notes WHERE name = ?").get(name) !== null,
    save: (name: string) => () => void db.sqlite.run("INSERT INTO notes (name) VALUES (?)", [name]),
  };
};

/** Returns the database as a process that dies now leaves it, with the notes. */
function copyOf(fixture: Fixture): Db {
  const copy = copyDatabase(fixture.db);
  const notes = createNotes({ db: copy });
  for (const { content } of messages) if (createNotes(fixture).has(content)) notes.save(content)();
  return copy;
}

const messages = [
  { content: "One" },
  { content: "Two", interrupt: true },
  { content: "Three" },
  { content: "Four", interrupt: true },
];

/** Sends the message unless it was taken before, like a client that repeats its request after a crash. */
async function send(fixture: Fixture, id: string, message: (typeof messages)[number]): Promise<void> {
  const notes = createNotes(fixture);
  if (notes.has(message.content)) return;
  await fixture.service.steer(fixture.scope, id, message, notes.save(message.content)).catch((error) => {
    // On a busy machine the run may have ended before.
    expect(error).toMatchObject({ code: "run_already_terminal" });
  });
}

const script = [
  { text: "Let me see", delta_ms: 20 },
  { text: "I look.", tool_calls: [{ name: "look", arguments: {} }] },
  ...Array.from({ length: 10 }, () => ({ text: "It is done", delta_ms: 20 })),
];

/** Sends all messages at their places, and copies the database after each commit. */
async function live(): Promise<{ id: string; cuts: Db[] }> {
  using fixture = runFixture();
  createNotes(fixture);
  const cuts: Db[] = [];
  fixture.watches.listen(() => cuts.push(copyOf(fixture)));
  const { id } = await fixture.start(script, { tools: [tool("look")] });
  await goOn(fixture, id);
  return { id, cuts };
}

/** Sends the messages that are left: two while the model answers, one while the run waits, and one to its last answer. */
async function goOn(fixture: Fixture, id: string) {
  const [one, two, three, four] = messages;
  await send(fixture, id, one!);
  await send(fixture, id, two!);
  await fixture.settled(id);
  await send(fixture, id, three!);
  const { required_action } = fixture.runs.get(fixture.scope, id);
  const [call] = required_action?.submit_tool_outputs.tool_calls ?? [];
  if (call) await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call.tool_call_id, output: "blue" }]);
  await send(fixture, id, four!);
  return toTheEnd(fixture, id);
}

test("each message is taken once and in order, whichever commit the process dies after", async () => {
  const { id, cuts } = await live();
  expect(cuts.length).toBeGreaterThan(8);
  for (const db of cuts) {
    using fixture = runFixture({ db });
    const before = fixture.journal.read(id);
    await fixture.service.recover();
    const run = await goOn(fixture, id);
    expect(run.status).toBe("completed");
    expect(fixture.journal.read(id).slice(0, before.length)).toEqual(before);
    const said = run.messages.filter(({ role }) => role === "user").map(({ content }) => content);
    const taken = messages.map(({ content }) => content).filter((content) => createNotes(fixture).has(content));
    expect(said).toEqual(["Hello", ...taken]);
    expect(run.messages.at(-1)?.role).toBe("assistant");
  }
});
