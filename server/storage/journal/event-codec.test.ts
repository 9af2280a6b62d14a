import { expect, test } from "bun:test";
import fc from "fast-check";
import { created } from "../../domain/__fixtures__/events.ts";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { runFixture } from "../../testing/run-fixture.ts";

type Fixture = ReturnType<typeof runFixture>;

const big = "large ".repeat(1000);

/** Begins a run that no loop drives. */
async function begin({ journal, scope }: Fixture, input: string, where: Scope = scope): Promise<string> {
  const run_id = newId("run");
  await journal.append(run_id, [created({ run_id, ...where, input })]);
  return run_id;
}

const end = ({ service, scope }: Fixture, id: string) => service.cancel(scope, id, null);
const inputOf = ({ journal }: Fixture, id: string) => (journal.read(id)[0]!.event as { input?: string }).input;
const blobs = ({ db }: Fixture) =>
  db.sqlite.query<{ project_id: string; environment: string; content: string }, []>("SELECT * FROM blobs").all();
const rowsWith = ({ db }: Fixture, text: string) =>
  db.sqlite.query<{ n: number }, [string]>("SELECT count(*) AS n FROM run_events WHERE instr(data, ?) > 0").get(text)!
    .n;

test("a large field is stored outside of its row and read back equal, a small one stays in the row", async () => {
  using fixture = runFixture();
  const [large, small] = [await begin(fixture, big), await begin(fixture, "a small input")];
  expect([inputOf(fixture, large), inputOf(fixture, small)]).toEqual([big, "a small input"]);
  expect([rowsWith(fixture, "large large"), rowsWith(fixture, "a small input")]).toEqual([0, 1]);
  expect(blobs(fixture)).toMatchObject([{ content: JSON.stringify(big) }]);
  expect(fixture.journal.read(large)[0]!.event).toEqual(created({ run_id: large, ...fixture.scope, input: big }));
});

test("any text is read back unchanged, below and above the threshold, lone surrogates included", async () => {
  using fixture = runFixture();
  const unit = fc.constantFrom("a", "ü", "😀", "\ud83d", "\ude00", "\0", '"', "\n", "\u2028");
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 8 }), fc.nat(1000), async (units, times) => {
      const text = units.join("").repeat(times);
      expect(inputOf(fixture, await begin(fixture, text))).toBe(text);
    }),
    { numRuns: 60 },
  );
});

test("256 KB survive", async () => {
  using fixture = runFixture();
  const text = "ü\ud83d\n".repeat(87_382).slice(0, 256 * 1024);
  expect(inputOf(fixture, await begin(fixture, text))).toBe(text);
});

test("runs of one project and environment share equal blobs; others never do", async () => {
  using fixture = runFixture();
  const { db, scope } = fixture;
  db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_other', 'other', 0)");
  const scopes: Scope[] = [scope, { ...scope, environment: "live" }, { project_id: "proj_other", environment: "test" }];
  for (const where of [...scopes, scope]) expect(inputOf(fixture, await begin(fixture, big, where))).toBe(big);
  const owners = blobs(fixture).map(({ project_id, environment }) => ({ project_id, environment }) as Scope);
  const sorted = (list: Scope[]) => list.map((each) => Object.values(each).join()).sort();
  expect(sorted(owners)).toEqual(sorted(scopes));
});

test.each([
  ["its run", (fixture: Fixture, id: string) => fixture.runs.remove(fixture.author, id)],
  ["its run's trace", (fixture: Fixture, id: string) => fixture.runs.forgetTrace(fixture.author, id)],
])("blobs shared by several runs are deleted with the last of them when %s is deleted", async (_, forget) => {
  using fixture = runFixture();
  const live: Scope = { ...fixture.scope, environment: "live" };
  const elsewhere = await begin(fixture, big, live);
  const ids = [await begin(fixture, big), await begin(fixture, big)] as const;
  for (const id of ids) await end(fixture, id);
  await forget(fixture, ids[0]);
  expect([inputOf(fixture, ids[1]), blobs(fixture).length]).toEqual([big, 2]);
  await forget(fixture, ids[1]);
  expect(blobs(fixture)).toMatchObject([live]);
  expect(inputOf(fixture, elsewhere)).toBe(big);
  expect(fixture.db.sqlite.query("SELECT run_id FROM run_blobs").all()).toEqual([{ run_id: elsewhere }]);
});

test("a missing blob is an error that names it, never an empty field", async () => {
  using fixture = runFixture();
  const id = await begin(fixture, big);
  fixture.db.sqlite.run("DELETE FROM blobs");
  expect(() => fixture.journal.read(id)).toThrow(/Blob [0-9a-f]{64} is missing/);
});
