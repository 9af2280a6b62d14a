import { beforeAll, expect, test } from "bun:test";
import { chmodSync, closeSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
import fc from "fast-check";
import { pythonFiles } from "../../../scripts/python-files.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { childCommand } from "./child-order.ts";
import { performWithRestart, startChild } from "./child-process.ts";
import { encodePacket, type Packet, packetKinds, packetReader } from "./packet.ts";
import { parentSocket } from "./parent-socket.ts";
import type { Program } from "./program.ts";
import { encodeProgram } from "./program-message.ts";
import { programTask } from "./program-task.ts";
import type { Task } from "./task.ts";

beforeAll(pythonFiles, 60_000);

const program: Program = {
  language: "javascript",
  code: "1",
  arguments: null,
  files: [],
  timeout_ms: 45_000, // For what ends by itself, on a busy machine too.
  memory_mb: 64,
};
const short: Program = { ...program, timeout_ms: 300 };

/** A child that writes these bytes instead of a valid answer, and then runs the shell command. */
const saying = (script: string) =>
  startChild({ language: "javascript", jailed: false, command: ["/bin/sh", "-c", script] });
const lying = (bytes: Uint8Array) => saying(`printf '${octal(bytes)}'`);
/** A child that is ready, takes its program, and then writes these bytes. */
const lyingInTurn = (bytes: Uint8Array, then = "") =>
  saying(`printf '${octal(ready)}'; head -c 4 > /dev/null; printf '${octal(bytes)}'; ${then}`);
const octal = (bytes: Uint8Array) => Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
const never = () => new AbortController().signal;
const [ready, started] = [encodePacket("ready"), encodePacket("started")];
const text = (json: string) => new TextEncoder().encode(json);
const end = encodePacket("ended", text('{"error":null,"files_dropped":0,"peak_memory_mb":1}'));

test("the parent has an outcome in time, whatever a child writes", async () => {
  const packet = fc
    .tuple(fc.constantFrom(...packetKinds), fc.uint8Array({ maxLength: 60 }))
    .map(([kind, payload]) => encodePacket(kind, payload));
  const said = fc.array(fc.oneof(packet, fc.uint8Array({ maxLength: 60 })), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.boolean(), said, fc.boolean(), async (begins, pieces, ends) => {
      const bytes = Buffer.concat([...(begins ? [started] : []), ...pieces, ...(ends ? [end] : [])]);
      const outcome = await (begins ? lyingInTurn(bytes) : lying(bytes)).run(short, never());
      if (outcome.error) expect(outcome.result).toBeNull();
    }),
    { numRuns: 100 },
  );
}, 60_000);

/** A jailed child that waits for its program; null if it died at its start, after which the server starts another. */
async function startJailed(language: "javascript" | "python") {
  const order = { language, parent: process.pid };
  const stdio = ["pipe", "pipe", "ignore", "pipe"] as const;
  const child = Bun.spawn(childCommand("jail", order), { stdio: [...stdio], env: {} });
  const [heard, read] = [child.stdout.getReader(), packetReader(1024)];
  const kinds: Packet["kind"][] = []; // Those not yet waited for: several may come in one piece.
  const until = async (wanted: Packet["kind"]) => {
    while (!kinds.includes(wanted)) {
      const { value } = await heard.read();
      if (!value) return false;
      kinds.push(...read(value).map(({ kind }) => kind));
    }
    kinds.splice(0, kinds.indexOf(wanted) + 1);
    return true;
  };
  const ownEnd = child.stdio[parentSocket] as number;
  if (await until("ready")) return { child, until, ownEnd };
  closeSync(ownEnd);
  return null;
}

/** A jailed child that has received a program and has reported its start. */
async function begun(language: "javascript" | "python", code: string) {
  const jailed = (await startJailed(language)) ?? (await startJailed(language));
  if (!jailed) throw new Error("Two children died at their start.");
  const { child, until } = jailed;
  for (const bytes of encodeProgram({ ...program, language, code, timeout_ms: 60_000 })) child.stdin.write(bytes);
  await child.stdin.flush();
  expect(await until("started")).toBe(true);
  return jailed;
}

// The parent's death signal is not involved: the parent lives and only closes its end of the socket.
test.each([
  ["javascript", "Array(4e8).join('')"],
  ["python", "import time\ntime.sleep(1000)"],
  ["python", "while True: pass"],
] as const)(
  "a jailed child ends when its parent socket closes, whatever its program does: %s, %p",
  async (language, code) => {
    const { child, ownEnd } = await begun(language, code);
    closeSync(ownEnd);
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
  },
);

// The kernel may report a write to a reader after all of it was read.
test("no event on standard input ends a jailed child", async () => {
  // The program does not end by itself: else it could be over before a busy machine writes.
  const { child, until, ownEnd } = await begun(
    "javascript",
    "for (let at = 0; ; at++) if (at % 1e5 === 0) console.log(at);",
  );
  child.stdin.write("late");
  await child.stdin.end();
  for (let more = 0; more < 4; more++) expect(await until("stdout")).toBe(true);
  closeSync(ownEnd);
  await child.exited;
});

const idlePolicy = "5";

/** Scheduling of the threads of a process, from `proc_pid_stat(5)`. */
const policiesOf = (pid: number) => [
  ...new Set(
    readdirSync(`/proc/${pid}/task`).map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[38]);
    }),
  ),
];

test("a program starts with a lower priority the more its owner already runs", async () => {
  const child = startChild({ language: "javascript", jailed: false });
  const outcome = child.perform(programTask(program), never(), 2);
  expect(getPriority(child.pid)).toBe(Math.min(19, getPriority() + 6));
  expect(await outcome).toMatchObject({ result: 1, error: null });
});

test.each([
  ["its owner's only one", 0, 10],
  ["one of several of its owner, which gets only what others leave", 1, 19],
])("a long program gets a lower priority than the server and short programs: %s", async (_, beside, steps) => {
  const caller = new AbortController();
  const child = startChild({ language: "javascript", jailed: false });
  const endless = programTask({ ...program, code: "for (;;);", timeout_ms: 60_000 });
  const outcome = child.perform(endless, caller.signal, beside);
  const lowered = Math.min(19, getPriority() + steps);
  while (getPriority(child.pid) < lowered) await Bun.sleep(20);
  expect(getPriority(child.pid)).toBe(lowered);
  if (process.platform === "linux" && beside > 0)
    while (policiesOf(child.pid).join() !== idlePolicy) await Bun.sleep(20);
  caller.abort(new Error("left"));
  expect(outcome).rejects.toThrow("left");
  await child.gone;
});

test.each<[string, Uint8Array[]]>([
  ["a result that is no JSON", [started, encodePacket("result", text("{")), end]],
  ["a result that nests too deep", [started, encodePacket("result", text("[".repeat(100) + "]".repeat(100))), end]],
  ["a file with a path for a name", [started, encodePacket("file", text("\u0004../ax")), end]],
  ["a file with a name that is no text", [started, encodePacket("file", new Uint8Array([1, 255, 0])), end]],
  ["the same file twice", [started, encodePacket("file", text("\u0001a")), encodePacket("file", text("\u0001a")), end]],
  ["an error that nobody knows", [started, encodePacket("ended", text('{"error":{"code":"x","message":"y"}}'))]],
  ["an end that is no object", [started, encodePacket("ended", text("7"))]],
  ["an answer before it has started", [encodePacket("result", text("1")), end]],
  ["a second start", [started, encodePacket("started"), end]],
  ["no packet", [new Uint8Array([99, 0, 0, 0, 0])]],
  ["a packet without an end", [started, new Uint8Array([4, 255, 255, 255, 255])]],
  ["nothing", []],
])("a child that answers %s has failed", async (_, pieces) => {
  const outcome = await lyingInTurn(Buffer.concat(pieces)).run(program, never());
  expect(outcome).toMatchObject({ error: { code: "sandbox_failed" }, result: null, files: [] });
});

test("a child that answers before its task has failed", async () => {
  const outcome = await lying(Buffer.concat([ready, started, encodePacket("result", text("1")), end])).run(
    program,
    never(),
  );
  expect(outcome).toMatchObject({ error: { code: "sandbox_failed" }, result: null });
});

test("a child that follows the protocol is accepted", async () => {
  const outcome = await lyingInTurn(Buffer.concat([started, encodePacket("result", text("1")), end])).run(
    program,
    never(),
  );
  expect(outcome).toMatchObject({ error: null, result: 1, peak_memory_mb: 1 });
});

/** A task timed by processor that no child performs. */
const long = (timeout_ms: number): Task<string> => ({
  ...programTask({ ...program, timeout_ms }),
  timed_by: "processor",
  outcome: (why) => why?.kind ?? "whole",
});

test("a task timed by processor may wait for it, and is ended when its time is used up", async () => {
  // More than its time and the grace, and far less than ten times its time, which the clock allows.
  const waits = lyingInTurn(started, `sleep 3; printf '${octal(end)}'`);
  expect(await waits.perform(long(600), never())).toBe("whole");
  const computes = lyingInTurn(started, "while :; do :; done");
  expect(await computes.perform(long(300), never())).toBe("late");
  const waitsForEver = lyingInTurn(started, "exec sleep 60");
  expect(await waitsForEver.perform(long(50), never())).toBe("late");
});

test("a child that stops writing, or never reads, is killed at the deadline", async () => {
  const large = { ...short, files: [{ name: "a", bytes: new Uint8Array(4e6) }] };
  const outcome = await lyingInTurn(started, "exec sleep 60").run(large, never());
  expect(outcome.error?.code).toBe("code_timeout");
});

test.each(["yes", "cat /dev/zero", "printf '\\002\\100\\000\\000\\000'; cat /dev/zero"])(
  "a child that never stops writing is killed, and the parent buffers none of it: %s",
  async (flood) => {
    const before = process.memoryUsage().rss;
    const outcome = await lyingInTurn(started, flood).run(short, never());
    expect(outcome.error).not.toBeNull();
    Bun.gc(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
  },
);

test("packets are decoded as encoded, however they are split", () => {
  const packets = fc.array(fc.tuple(fc.constantFrom(...packetKinds), fc.uint8Array({ maxLength: 300 })));
  fc.assert(
    fc.property(packets, fc.integer({ min: 1, max: 50 }), (given, size) => {
      const all = Buffer.concat(given.map(([kind, payload]) => encodePacket(kind, payload)));
      const read = packetReader(300);
      const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        all.subarray(at * size, (at + 1) * size),
      );
      const got = pieces.flatMap(read).map(({ kind, payload }) => [kind, [...payload]]);
      expect(got).toEqual(given.map(([kind, payload]) => [kind, [...payload]]));
    }),
  );
});

test.each([
  ["before it is ready", "exit 1"],
  ["with its program, before it has begun with it", `printf '${octal(ready)}'; head -c 4 > /dev/null; kill -ABRT $$`],
])("a child that dies %s is replaced, once", async (_, dying) => {
  const said = octal(Buffer.concat([started, encodePacket("result", text("1")), end]));
  const scripts = [dying, `printf '${octal(ready)}'; head -c 4 > /dev/null; printf '${said}'`];
  const starts: string[] = [];
  const start = () => {
    starts.push(scripts[starts.length]!);
    return saying(starts.at(-1)!);
  };
  expect(await performWithRestart(start, () => programTask(program), never())).toMatchObject({
    error: null,
    result: 1,
  });
  expect(starts).toEqual(scripts);
  const dead = await performWithRestart(
    () => saying(dying),
    () => programTask(program),
    never(),
  );
  expect(dead.error?.code).toBe("sandbox_failed");
});

test("a child that cannot be started now is retried; if that never succeeds, the outcome says so", async () => {
  using folder = temporaryFolder();
  const file = folder.file("child");
  const said = octal(Buffer.concat([started, encodePacket("result", text("1")), end]));
  writeFileSync(file, `#!/bin/sh\nprintf '${octal(ready)}'; head -c 4 > /dev/null; printf '${said}'\n`, {
    mode: 0o600,
  });
  let starts = 0;
  const start = () => {
    if (++starts === 2) chmodSync(file, 0o700);
    return startChild({ language: "javascript", jailed: false, command: [file] });
  };
  expect(await performWithRestart(start, () => programTask(program), never())).toMatchObject({
    error: null,
    result: 1,
  });
  expect(starts).toBe(2);
  const absent = () => startChild({ language: "javascript", jailed: false, command: [folder.file("absent")] });
  const error = { code: "sandbox_failed", message: "The sandbox's process could not be started (ENOENT)." };
  expect(await performWithRestart(absent, () => programTask(program), never())).toMatchObject({ error, result: null });
});

test("a child that dies after its start is not replaced, because a program must not run twice", async () => {
  let count = 0;
  const start = () => {
    count++;
    return lyingInTurn(started, "kill -ABRT $$");
  };
  expect((await performWithRestart(start, () => programTask(program), never())).error?.code).toBe("sandbox_failed");
  expect(count).toBe(1);
});
