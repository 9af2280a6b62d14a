import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseExact } from "../../lib/exact-numbers.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import type { Program } from "./program.ts";
import { createSandbox } from "./sandbox.ts";

const sandbox = createSandbox({ level: () => "strict", idle_ms: 60_000 });
afterAll(() => sandbox.stop());

const never = new AbortController().signal;
const program = (code: string, more: Partial<Program> = {}): Program => ({
  language: "javascript",
  code,
  arguments: null,
  files: [],
  timeout_ms: 45_000, // For what ends by itself, on a busy machine too.
  memory_mb: 64,
  ...more,
});
const run = (code: string, more: Partial<Program> = {}) => sandbox.run(program(code, more), never);
const bytes = (text: string) => new TextEncoder().encode(text);
/** True if the process still runs; a zombie does not. */
const alive = (pid: number) => {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
};

describe("a JavaScript program", () => {
  test.each<[string, unknown]>([
    ["1 + 1", 2],
    ["const a = [1, 2]; a.map((x) => x * 2)", [2, 4]],
    ["const x = await Promise.resolve(5); x * 2", 10],
    ["Promise.resolve('later')", "later"],
    ["(async () => ({ a: [null, true, 'ü\\0'] }))()", { a: [null, true, "ü\0"] }],
    ["({ gone: undefined, at: new Date(0) })", { at: "1970-01-01T00:00:00.000Z" }],
    ["NaN", null],
  ])("has its last expression, awaited, as its result: %p", async (code, result) => {
    expect(await run(code)).toMatchObject({ result, error: null });
  });

  test.each(["(a) => a.x + a.y", "async ({ x, y }) => x + y;", "function ({ x, y }) { return x + y }\n// done"])(
    "is a function if it has arguments: %p",
    async (code) => {
      expect(await run(code, { arguments: { x: "a\0", y: "ü" } })).toMatchObject({ result: "a\0ü", error: null });
    },
  );

  test("gets large integers as BigInt, and its result keeps their digits", async () => {
    const given = parseExact<Record<string, unknown>>(
      '{"id":2512292042121000001,"of":[-9007199254740993],"small":7,"half":0.5}',
    );
    const code =
      "({ id, of, small, half }) => { print(id, of, { id }); return { next: id + 1n, of, sum: small + half, typed: typeof id }; }";
    const { result, stdout, error } = await run(code, { arguments: given });
    expect([JSON.stringify(result), stdout, error]).toEqual([
      '{"next":2512292042121000002,"of":[-9007199254740993],"sum":7.5,"typed":"bigint"}',
      '2512292042121000001 [-9007199254740993] {"id":2512292042121000001}\n',
      null,
    ]);
    const own = "BigInt.prototype.toJSON = () => 'own'; [1n]";
    expect(await run(own)).toMatchObject({ result: ["own"] });
    expect(await run("try { JSON.stringify(1n) } catch ({ name }) { name }")).toMatchObject({ result: "TypeError" });
  });

  test("has its output in order, on stdout and stderr", async () => {
    const { stdout, stderr } = await run(
      "print('a', 1, { b: [2] }); console.log('c\\0ü'); console.error(new Error('d'))",
    );
    expect([stdout, stderr]).toEqual(['a 1 {"b":[2]}\nc\0ü\n', "Error: d (line 1)\n"]);
  });

  test("keeps 64 KB of its output, and marks it as truncated", async () => {
    const outcome = await run("for (let i = 0; i < 50; i++) print('ü'.repeat(1000)); 'done'");
    expect(outcome).toMatchObject({ result: "done", stdout_truncated: true, stderr_truncated: false });
    expect(outcome.stdout).toHaveLength(32784);
    expect(outcome.stdout).not.toContain("\ufffd");
  });

  test("reads its input files and writes others", async () => {
    const files = [
      { name: "a.txt", bytes: bytes("ü\0x") },
      { name: "b", bytes: new Uint8Array([0, 255, 7]) },
    ];
    const code = `output.write("text", input.text("a.txt") + "!"); output.write("bytes", input.bytes("b").subarray(1));
      output.write("bytes again", input.bytes("b").buffer); output.write("text", "twice"); input.names()`;
    expect(await run(code, { files })).toMatchObject({
      result: ["a.txt", "b"],
      error: null,
      files: [
        { name: "bytes", bytes: new Uint8Array([255, 7]) },
        { name: "bytes again", bytes: new Uint8Array([0, 255, 7]) },
        { name: "text", bytes: bytes("twice") },
      ],
      files_dropped: 0,
    });
  });

  test("leaves its files in the order of their names", async () => {
    const { files } = await run(
      "for (const name of ['b', '\\uff5e', '\\u{1f600}', 'a', 'B']) output.write(name, name)",
    );
    expect(files.map(({ name }) => name)).toEqual(["B", "a", "b", "\u{1f600}", "\uff5e"]);
  });

  test("accepts input files of 32 MB in total, and no more", async () => {
    const file = (size: number) => ({ name: `${size}`, bytes: new Uint8Array(size).fill(7) });
    const code = "input.names().map((name) => input.bytes(name).reduce((sum, byte) => sum + byte, 0)).join()";
    const large = { memory_mb: 256 };
    expect(await run("input.bytes('33554432').length", { ...large, files: [file(32 * 2 ** 20)] })).toMatchObject({
      result: 32 * 2 ** 20,
    });
    expect(await run(code, { ...large, files: [file(32 * 2 ** 20), file(1)] })).toMatchObject({
      error: { code: "sandbox_failed", message: "The files are larger than 33554432 bytes in all." },
    });
  });

  test("returns at most 16 files and 8 MB, and counts those left out", async () => {
    const many = await run("for (let i = 0; i < 20; i++) output.write('f' + i, 'x')");
    expect([many.files.length, many.files_dropped]).toEqual([16, 4]);
    const large = await run("for (let i = 0; i < 5; i++) output.write('f' + i, new Uint8Array(3e6)); 'done'");
    expect([large.files.length, large.files_dropped, large.result]).toEqual([2, 3, "done"]);
  });

  test("reports message and line of an error, and keeps its output and files", async () => {
    expect(await run("print('before');\noutput.write('a', 'b');\n\nnull.x")).toMatchObject({
      result: null,
      error: { code: "code_error", message: "TypeError: cannot read property 'x' of null (line 4)" },
      stdout: "before\n",
      files: [{ name: "a", bytes: bytes("b") }],
    });
    expect((await run("\n\nlet a = ;")).error?.message).toContain("(line 3)");
    expect((await run("({ a }) => {\n  throw new RangeError(a);\n}", { arguments: { a: "no" } })).error?.message).toBe(
      "RangeError: no (line 2)",
    );
  });

  test("is killed if the interpreter cannot interrupt it, and keeps what it had printed", async () => {
    const outcome = await withEnoughTime(1000, async (timeout_ms) => {
      const ended = await run("print('before'); Array(4e8).join('')", { timeout_ms });
      return ended.stdout && ended;
    });
    expect(outcome).toMatchObject({ error: { code: "code_timeout" }, stdout: "before\n", result: null });
  });

  test("can use its memory limit, and no more", async () => {
    const code = "const all = []; for (let i = 0; i < 100; i++) all.push(new Uint8Array(1e6).fill(i)); all.length";
    expect(await run(code, { memory_mb: 64 })).toMatchObject({ error: { code: "code_out_of_memory" } });
    const roomy = await run(code, { memory_mb: 128 });
    expect(roomy).toMatchObject({ result: 100, error: null });
    expect(roomy.peak_memory_mb).toBeGreaterThan(95);
    expect(roomy.peak_memory_mb).toBeLessThanOrEqual(128);
  });

  test.each([
    "[...'x'.repeat(1e7)]",
    "'x'.repeat(1e7).split('')",
    "'x'.repeat(1e7).replace(/x/g, 'yyyyyyyyyy').length",
    "'é'.repeat(1e7).normalize('NFD').length",
    "'x'.padEnd(2 ** 28).length",
    "JSON.parse('[' + Array(1e6).fill('{}').join() + ']').length",
    "new Float64Array(1e8)",
    "Array.from({ length: 1e8 }, (_, i) => ({ i }))",
    "const grow = (all) => grow([...all, ...all]); grow([1])",
    "try { [...'x'.repeat(1e7)] } catch (error) { throw error }",
    "try { [...'x'.repeat(1e7)] } finally { print('done') }",
    'const all = []; try { for (;;) all.push({}) } catch (error) { throw new Error("No: " + error) }',
    "Promise.resolve().then(() => [...'x'.repeat(1e7)])",
    "await Promise.any([1, 2].map(async () => [...'x'.repeat(1e7)]))",
    "({ toJSON() { return [...'x'.repeat(1e7)] } })",
    "print([...'x'.repeat(1e6)].map((x) => ({ x })))",
  ])("that exceeds its memory gets an error that says so: %s", async (code) => {
    const { error } = await run(code);
    expect(error).toMatchObject({ code: "code_out_of_memory" });
    expect(error?.message).toStartWith("The program needed more than its 64 MB of memory.");
  });

  test("that catches a refused allocation has its result, and one that throws null has its own error", async () => {
    const code = "try { [...'x'.repeat(1e7)] } catch {} 'went on'";
    expect(await run(code)).toMatchObject({ result: "went on", error: null });
    for (const thrown of ["throw null", "await Promise.reject(null)"])
      expect((await run(thrown)).error).toEqual({ code: "code_error", message: "Uncaught null" });
  });

  test("that fails because of a refused allocation also reports its own error", async () => {
    const code = "try { new Uint8Array(1e9) } catch (cause) { throw new Error('No room', { cause }) }";
    expect((await run(code)).error?.message).toBe(
      "The program needed more than its 64 MB of memory. It ended with: Error: No room (line 1)",
    );
  });

  test("finds no state of the previous one", async () => {
    await run("globalThis.left = 1; output.write('a', 'x'); Object.prototype.left = 1");
    expect(await run("typeof left + typeof {}.left + input.names().length")).toMatchObject({
      result: "undefinedundefined0",
    });
  });
});

describe("the sandbox", () => {
  test("kills a program if its caller aborts", async () => {
    const caller = new AbortController();
    const outcome = sandbox.run(program("for (;;) print('x')", { timeout_ms: 30_000 }), caller.signal);
    caller.abort(new Error("left"));
    expect(outcome).rejects.toThrow("left");
    expect(await outcome.catch(() => "gone")).toBe("gone");
  });

  test("queues programs, and removes aborted ones from the queue", async () => {
    const narrow = createSandbox({ level: () => "strict", places: { count: 1, reserve: 0 }, spares: 0 });
    const first = narrow.run(program("'first'"), never);
    const caller = new AbortController();
    const second = narrow.run(program("'second'"), caller.signal).catch((error: Error) => error.message);
    const third = narrow.run(program("'third'"), never);
    await Bun.sleep(0);
    caller.abort(new Error("left"));
    expect([(await first).result, await second, (await third).result]).toEqual(["first", "left", "third"]);
    narrow.stop();
  });

  test("runs a project's program while another project has sixty endless ones", async () => {
    const full = createSandbox({ level: () => "strict", places: { count: 3, reserve: 1 }, spares: 0 });
    const endless = new AbortController();
    const noisy = Array.from({ length: 60 }, () =>
      full.run(program("for (;;);", { timeout_ms: 60_000 }), endless.signal, "noisy").then(
        () => "ended",
        () => "left",
      ),
    );
    expect((await full.run(program("6 * 7"), never, "quiet")).result).toBe(42);
    endless.abort();
    expect(new Set(await Promise.all(noisy))).toEqual(new Set(["left"]));
    full.stop();
  });

  test("kills running programs when stopped", async () => {
    const other = createSandbox({ level: () => "strict", spares: 0 });
    const outcome = other.run(program("for (;;);", { timeout_ms: 30_000 }), never);
    await Bun.sleep(0);
    other.stop();
    expect((await outcome).error?.code).toBe("sandbox_failed");
  });

  test("runs nothing if it is off, and Python only if it is strict", async () => {
    const off = createSandbox({ level: () => "off" });
    expect((await off.run(program("1"), never)).error).toEqual({
      code: "sandbox_failed",
      message: "Code does not run on this server.",
    });
    const loose = createSandbox({ level: () => "process", spares: 0 });
    expect((await loose.run(program("1", { language: "python" }), never)).error?.message).toContain("Landlock");
    expect((await loose.run(program("1 + 1"), never)).result).toBe(2);
  });

  test("rejects code that is too large, and file names that are paths", async () => {
    expect((await run(" ".repeat(256 * 1024 + 1))).error?.message).toBe("The code is larger than 262144 bytes.");
    const file = { name: "../a", bytes: new Uint8Array() };
    expect((await run("1", { files: [file] })).error?.message).toBe('"../a" is not a valid file name.');
  });

  test.each([true, false])(
    "ends with a server that is killed (jailed: %p), also in an endless loop",
    async (jailed) => {
      const code = `
      import { readFileSync } from "node:fs";
      import { startChild } from ${JSON.stringify(`${import.meta.dir}/child-process.ts`)};
      const child = startChild({ language: "javascript", jailed: ${jailed} });
      const ticks = () => Number(readFileSync("/proc/" + child.pid + "/stat", "latin1").split(") ")[1].split(" ")[11]);
      await child.ready;
      const before = ticks();
      const program = { language: "javascript", code: "Array(4e8).join('')", arguments: null, files: [] };
      void child.run({ ...program, timeout_ms: 30000, memory_mb: 64 }, new AbortController().signal);
      while (ticks() < before + 20) await Bun.sleep(5);
      console.log(child.pid);`;
      const server = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "inherit" });
      const { value } = await server.stdout.getReader().read();
      const pid = Number(new TextDecoder().decode(value));
      expect(alive(pid)).toBe(true);
      server.kill("SIGKILL");
      while (alive(pid)) await Bun.sleep(5);
      expect(alive(pid)).toBe(false);
    },
  );

  test("works in a worker thread, and its children end with the thread", async () => {
    const code = `
      import { readFileSync } from "node:fs";
      import { createSandbox } from ${JSON.stringify(`${import.meta.dir}/sandbox.ts`)};
      const sandbox = createSandbox({ level: () => "strict", spares: 1 });
      const program = (code) => ({ language: "javascript", code, arguments: null, files: [], timeout_ms: 20000, memory_mb: 64 });
      self.onmessage = async () => {
        const { result } = await sandbox.run(program("6 * 7"), new AbortController().signal);
        const children = readFileSync("/proc/thread-self/children", "latin1");
        self.postMessage({ result, children: children.trim().split(" ").map(Number) });
      };`;
    const file = join(mkdtempSync(join(tmpdir(), "runnel-worker-")), "worker.ts");
    writeFileSync(file, code);
    const worker = new Worker(file);
    const heard = Promise.withResolvers<{ result: unknown; children: number[] }>();
    worker.onmessage = ({ data }) => heard.resolve(data);
    worker.onerror = ({ message }) => heard.reject(new Error(message));
    worker.postMessage("go");
    const { result, children } = await heard.promise;
    expect(result).toBe(42);
    expect(children.filter(alive)).toHaveLength(1);
    worker.terminate();
    while (children.some(alive)) await Bun.sleep(5);
    expect(children.filter(alive)).toEqual([]);
    rmSync(dirname(file), { recursive: true });
  });
});
