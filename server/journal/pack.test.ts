import { expect, test } from "bun:test";
import fc from "fast-check";
import { created } from "../core/__fixtures__/events.ts";
import { newId } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import { runBench } from "../testing/run-bench.ts";

type Bench = ReturnType<typeof runBench>;

const big = "large ".repeat(1000);

/** Begins a run without anybody who drives it. */
async function begin({ journal, scope }: Bench, input: string, where: Scope = scope): Promise<string> {
  const run_id = newId("run");
  await journal.append(run_id, [created({ run_id, ...where, input })]);
  return run_id;
}

const end = ({ service, scope }: Bench, id: string) => service.cancel(scope, id, null);
const inputOf = ({ journal }: Bench, id: string) => (journal.read(id)[0]!.event as { input?: string }).input;
const blobs = ({ db }: Bench) =>
  db.sqlite.query<{ project_id: string; environment: string; content: string }, []>("SELECT * FROM blobs").all();
const rowsWith = ({ db }: Bench, text: string) =>
  db.sqlite.query<{ n: number }, [string]>("SELECT count(*) AS n FROM run_events WHERE instr(data, ?) > 0").get(text)!
    .n;

test("a large field stands outside of its row and comes back equal, a small one stays in it", async () => {
  using bench = runBench();
  const [large, small] = [await begin(bench, big), await begin(bench, "a small input")];
  expect([inputOf(bench, large), inputOf(bench, small)]).toEqual([big, "a small input"]);
  expect([rowsWith(bench, "large large"), rowsWith(bench, "a small input")]).toEqual([0, 1]);
  expect(blobs(bench)).toMatchObject([{ content: JSON.stringify(big) }]);
  expect(bench.journal.read(large)[0]!.event).toEqual(created({ run_id: large, ...bench.scope, input: big }));
});

test("any text comes back as it was, on both sides of the border, halves of characters included", async () => {
  using bench = runBench();
  const unit = fc.constantFrom("a", "ü", "😀", "\ud83d", "\ude00", "\0", '"', "\n", "\u2028");
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { minLength: 1, maxLength: 8 }), fc.nat(1000), async (units, times) => {
      const text = units.join("").repeat(times);
      expect(inputOf(bench, await begin(bench, text))).toBe(text);
    }),
    { numRuns: 60 },
  );
});

test("256 KB survive", async () => {
  using bench = runBench();
  const text = "ü\ud83d\n".repeat(87_382).slice(0, 256 * 1024);
  expect(inputOf(bench, await begin(bench, text))).toBe(text);
});

test("runs of one project and environment share what is equal; others never do", async () => {
  using bench = runBench();
  const { db, scope } = bench;
  db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_other', 'other', 0)");
  const scopes: Scope[] = [scope, { ...scope, environment: "live" }, { project_id: "proj_other", environment: "test" }];
  for (const where of [...scopes, scope]) expect(inputOf(bench, await begin(bench, big, where))).toBe(big);
  const owners = blobs(bench).map(({ project_id, environment }) => ({ project_id, environment }) as Scope);
  const sorted = (list: Scope[]) => list.map((each) => Object.values(each).join()).sort();
  expect(sorted(owners)).toEqual(sorted(scopes));
});

test.each([
  ["its run", (bench: Bench, id: string) => bench.runs.remove(bench.author, id)],
  ["its run's trace", (bench: Bench, id: string) => bench.runs.forgetTrace(bench.author, id)],
])("what several runs share goes with the last of them when %s is deleted", async (_, forget) => {
  using bench = runBench();
  const live: Scope = { ...bench.scope, environment: "live" };
  const elsewhere = await begin(bench, big, live);
  const ids = [await begin(bench, big), await begin(bench, big)] as const;
  for (const id of ids) await end(bench, id);
  await forget(bench, ids[0]);
  expect([inputOf(bench, ids[1]), blobs(bench).length]).toEqual([big, 2]);
  await forget(bench, ids[1]);
  expect(blobs(bench)).toMatchObject([live]);
  expect(inputOf(bench, elsewhere)).toBe(big);
  expect(bench.db.sqlite.query("SELECT run_id FROM run_blobs").all()).toEqual([{ run_id: elsewhere }]);
});

test("a blob that is gone is a fault that names it, never an empty field", async () => {
  using bench = runBench();
  const id = await begin(bench, big);
  bench.db.sqlite.run("DELETE FROM blobs");
  expect(() => bench.journal.read(id)).toThrow(/Blob [0-9a-f]{64} is missing/);
});
