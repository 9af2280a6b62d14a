import { expect, test } from "bun:test";

// A thread takes long to start on a busy machine; after three missed pings it is replaced.
const beat_ms = 1500;
const beats = 4;

// A separate process with worker threads, suspended as a closed laptop or a debugger would.
const working = `
  const { runFixture } = await import(${JSON.stringify(`${import.meta.dir}/../testing/run-fixture.ts`)});
  const { workerThread } = await import(${JSON.stringify(`${import.meta.dir}/dispatch/worker-threads.ts`)});
  let made = 0;
  let answers = 0;
  const answered = Promise.withResolvers();
  const threads = (hear, died) => {
    made++;
    return workerThread((notices) => {
      if (notices.some((notice) => notice.do === "pong") && ++answers === 2) answered.resolve();
      hear(notices);
    }, died);
  };
  const fixture = runFixture({ threads, size: 2, beat_ms: ${beat_ms} });
  const runs = await Promise.all(
    Array.from({ length: 6 }, () => fixture.start([{ text: "word ".repeat(200).trim(), delta_ms: 20 }])),
  );
  await Promise.all(runs.map(({ id }) => fixture.stream(id, undefined, ({ event }) => event === "token")));
  await answered.promise;
  console.log("working");
  const ended = await Promise.all(runs.map(({ id }) => fixture.settled(id)));
  console.log(JSON.stringify({ made, ended: ended.map(({ status, attempt, output }) => [status, attempt, output.length]) }));
  process.exit();
`;

test("a process that was suspended for many pings replaces no thread, and repeats nothing", async () => {
  const child = Bun.spawn([process.execPath, "-e", working], { stdout: "pipe", stderr: "inherit" });
  const decoder = new TextDecoder();
  let said = "";
  let stopped = false;
  for await (const chunk of child.stdout) {
    said += decoder.decode(chunk);
    if (stopped || !said.includes("\n")) continue;
    stopped = true;
    child.kill("SIGSTOP");
    await Bun.sleep(beats * beat_ms); // The suspension itself: the process does not notice this time.
    child.kill("SIGCONT");
  }
  const [, result = ""] = said.split("\n");
  expect(JSON.parse(result)).toEqual({ made: 2, ended: Array(6).fill(["completed", 1, 999]) });
}, 60_000);
