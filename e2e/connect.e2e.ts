import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { pythonWith } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { createAgent, createScripted, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";

// Popular third-party clients, unmodified, as their page shows them.

interface Example {
  /** Package names in their registry, each with its version. */
  packages: string[];
  language: "javascript" | "py";
  program: string;
}

const examplesOf = (page: string) =>
  [
    ...readFileSync(inProject(`server/docs/connect/${page}.md`), "utf8").matchAll(
      /`(?:npm|pip) install ([^`]+)`\n\n```(javascript|py)\n([\s\S]*?)```/g,
    ),
  ].map(
    ([, packages, language, program]): Example => ({
      packages: packages!.split(" "),
      language: language as Example["language"],
      program: program!,
    }),
  );
const pages = ["openai", "openai-responses"];
const examples = pages.flatMap((page) => examplesOf(page).map((example) => [page, example] as const));

/** Programs that use more of a client than a page shows. */
const programs: [file: string, ...packages: string[]][] = [
  ["models.py", "openai==3.54.0"],
  ["models.mjs", "openai@7.57.0"],
  ["responses.py", "openai==3.54.0"],
  ["agents.py", "openai-agents==0.24.0"],
  ["responses.mjs", "openai@7.57.0", "zod@4.6.7"],
  ["agents.mjs", "@openai/agents@0.20.0", "zod@4.6.7"],
  ["ai-sdk.mjs", "ai@7.0.173", "@ai-sdk/openai@4.0.118", "zod@4.6.7"],
];

/** Returns the command that runs a program with these packages in its own folder; null if they are unavailable. */
async function commandFor({ packages, language, program }: Example, folder: string): Promise<string[] | null> {
  const name = `connect-${packages.join("-").replaceAll(/[^\w.-]/g, "-")}`;
  if (language === "py") {
    writeFileSync(join(folder, "program.py"), program);
    const programs = await pythonWith(name, packages);
    return programs === null ? null : [join(programs, "python"), "program.py"];
  }
  writeFileSync(join(folder, "program.mjs"), program);
  const modules = await npmWith(name, packages);
  if (modules === null) return null;
  symlinkSync(modules, join(folder, "node_modules"));
  return ["node", "program.mjs"];
}

describe("a program for OpenAI's API", () => {
  let server: Runnel;
  let model: ModelServer;
  let agent: string;
  let agents: Record<string, string>;
  const folder = mkdtempSync(join(tmpdir(), "runnel-connect-"));
  beforeAll(async () => {
    model = startModelServer();
    server = await startRunnel({ environment: stubConnection(model.url) });
    agent = await createAgent(server, "test/echo");
    const connected = "openai_compatible/stub/words-3-0";
    await server.command("models", "prices", "set", connected, "--input", "1", "--output", "1");
    const look = { name: "look", arguments: { at: "Oslo" } };
    const words = Array.from({ length: 20 }, (_, index) => `word${index}`).join(" ");
    agents = {
      echo: agent,
      connected,
      json: await createScripted(server, [{ text: '{"place": "Oslo"}' }]),
      look: await createScripted(server, [{ text: "I look.", tool_calls: [look] }, { text: "Rain." }]),
      handoff: await createScripted(server, [{ tool_calls: [{ name: "transfer_to_echo", arguments: {} }] }]),
      slow: await createScripted(server, [{ delta_ms: 20, text: words }]),
      endless: await createScripted(server, [{ delta_ms: 60_000, text: words }]),
    };
    writeFileSync(join(folder, "ca.pem"), server.ca ?? "");
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await server[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });

  test("is on the page for at least six clients", () => {
    expect(examples.length).toBeGreaterThanOrEqual(6);
  });

  test.each(programs)(
    "that uses more of a client, %s, works",
    async (file, ...packages) => {
      const program = readFileSync(inProject("e2e/openai", file), "utf8");
      await expectSaid({ packages, language: file.endsWith(".py") ? "py" : "javascript", program }, "done");
    },
    600_000,
  );

  test.each(examples.map(([page, example]) => [example.packages.join(" "), page, example] as const))(
    "with %s, as the page %s shows it, gets an agent's answer",
    (_name, _page, example) => expectSaid(example, "Hello!"),
    600_000,
  );

  async function expectSaid(example: Example, text: string): Promise<void> {
    const name = example.packages.join(" ");
    const cwd = mkdtempSync(join(folder, "program-"));
    const command = await commandFor(example, cwd);
    if (!command) return console.warn(`skipped: ${name} is not to be had`);
    const certificate = join(folder, "ca.pem");
    const environment = {
      PATH: process.env.PATH ?? "",
      HOME: cwd,
      AGENT: agent,
      AGENTS: JSON.stringify(agents),
      RUNNEL_URL: server.url,
      RUNNEL_API_KEY: server.keys.test,
      NODE_EXTRA_CA_CERTS: certificate,
      SSL_CERT_FILE: certificate,
      PYDANTIC_AI_NO_BANNER: "1",
    };
    const program = Bun.spawn(command, { cwd, env: environment, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [said, errors, code] = await Promise.all([
      new Response(program.stdout).text(),
      new Response(program.stderr).text(),
      program.exited,
    ]);
    expect({ said: said.trim(), code, errors: code === 0 ? "" : errors }).toEqual({
      said: text,
      code: 0,
      errors: "",
    });
  }
});

test("a call at the end of a chat completion is answered after a kill, also twice, and is executed once", async () => {
  await using server = await startRunnel({ flags: ["--port", String(freePort())] });
  const script = [{ tool_calls: [{ name: "look", arguments: { at: "Oslo" } }] }, { text: "Rain." }];
  const model = await createScripted(server, script);
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const ask = async (messages: object[]): Promise<Json> => {
    const answer = await server.fetch("/openai/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, messages, tools }),
    });
    return answer.json();
  };
  const messages: object[] = [{ role: "user", content: "How is Oslo?" }];
  const { message, finish_reason } = (await ask(messages)).choices[0];
  expect(finish_reason).toBe("tool_calls");
  await server.kill9();
  await server.restart();
  messages.push(message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "Wet." });
  for (const _ of [1, 2]) expect((await ask(messages)).choices[0].message.content).toBe("Rain.");
  const { body } = await server.get("/v1/runs");
  expect(body.data.map((run: Json) => [run.status, run.usage.model_calls])).toEqual([["completed", 2]]);
});

test("a response cut by a kill is resumed behind the last event, and a waiting one continues with its result", async () => {
  await using stub = startModelServer();
  const flags = ["--port", String(freePort())];
  await using server = await startRunnel({ flags, environment: stubConnection(stub.url) });
  const words = wordsOf(60);
  const model = await createAgent(server, "half-60-10");
  const ask = (path: string, body?: object) =>
    server.fetch(`/openai/v1/responses${path}`, {
      ...(body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
  const asking: Json = await (await ask("", { model, input: "?", tools, background: true, stream: true })).text();
  const first: Json = eventsOf(asking).at(-1)!.response;
  await server.kill9();
  await server.restart();
  const result = { type: "function_call_output", call_id: first.output.at(-1).call_id, output: "Wet." };
  const body = { model, previous_response_id: first.id, input: [result], stream: true, background: true };
  const seen: Json[] = [];
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of (await ask("", body)).body!) {
    text += decoder.decode(chunk, { stream: true });
    seen.splice(0, seen.length, ...eventsOf(text.slice(0, text.lastIndexOf("\n\n") + 2)));
    if (seen.filter(({ type }) => type === "response.output_text.delta").length >= 3) break;
  }
  await server.kill9();
  stub.release();
  await server.restart();
  const { id } = seen[0]!.response;
  const place = seen.at(-1)!.sequence_number;
  const rest = eventsOf(await (await ask(`/${id}?stream=true&starting_after=${place}`)).text());
  const numbers = [...seen, ...rest].map(({ sequence_number }) => sequence_number);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
  // The model was called again, so the item starts over.
  const { item } = rest.find(({ type }) => type === "response.output_item.added")!;
  expect(item.id).toBe(seen.find(({ type }) => type === "response.output_item.added")!.item.id);
  const said = rest.filter(({ type, item_id }) => type === "response.output_text.delta" && item_id === item.id);
  expect(said.map(({ delta }) => delta).join("")).toBe(words);
  expect(rest.at(-1)).toMatchObject({ type: "response.completed", response: { id, status: "completed" } });
  expect(await (await ask(`/${id}`)).json()).toEqual(rest.at(-1)!.response);
}, 180_000);

const eventsOf = (text: string): Json[] => [...text.matchAll(/^data: (.+)$/gm)].map(([, json]) => JSON.parse(json!));
