import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { pythonWith } from "../scripts/python-tool.ts";
import { inProject } from "../scripts/root.ts";
import { createAgent, createScripted } from "./fixtures.ts";
import { freePort } from "./free-port.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";

// The clients that people have already, unchanged, as the page about them shows each.

interface Example {
  /** As a registry calls them, each with its version. */
  packages: string[];
  language: "javascript" | "py";
  program: string;
}

const page = readFileSync(inProject("server/docs/connect/openai.md"), "utf8");
const examples = [...page.matchAll(/`(?:npm|pip) install ([^`]+)`\n\n```(javascript|py)\n([\s\S]*?)```/g)].map(
  ([, packages, language, program]): Example => ({
    packages: packages!.split(" "),
    language: language as Example["language"],
    program: program!,
  }),
);

/** The command that runs a program with these packages, from a folder of its own; null where they are not to be had. */
async function commandFor({ packages, language, program }: Example, folder: string): Promise<string[] | null> {
  mkdirSync(folder, { recursive: true });
  const name = `connect-${packages[0]!.replaceAll(/[^\w.-]/g, "-")}`;
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
  let agent: string;
  const folder = mkdtempSync(join(tmpdir(), "runnel-connect-"));
  beforeAll(async () => {
    server = await startRunnel();
    agent = await createAgent(server, "test/echo");
    writeFileSync(join(folder, "ca.pem"), server.ca ?? "");
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await server[Symbol.asyncDispose]();
  });

  test("is on the page for at least six clients", () => {
    expect(examples.length).toBeGreaterThanOrEqual(6);
  });

  test.each(examples.map((example) => [example.packages.join(" "), example] as const))(
    "with %s gets an agent's answer",
    async (name, example) => {
      const cwd = join(folder, String(Bun.hash(name)));
      const command = await commandFor(example, cwd);
      if (!command) return console.warn(`skipped: ${name} is not to be had`);
      const certificate = join(folder, "ca.pem");
      const environment = {
        ...{ PATH: process.env.PATH ?? "", HOME: cwd, AGENT: agent },
        ...{ RUNNEL_URL: server.url, RUNNEL_API_KEY: server.keys.test },
        ...{ NODE_EXTRA_CA_CERTS: certificate, SSL_CERT_FILE: certificate, PYDANTIC_AI_NO_BANNER: "1" },
      };
      const program = Bun.spawn(command, { cwd, env: environment, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
      const [said, errors, code] = await Promise.all([
        new Response(program.stdout).text(),
        new Response(program.stderr).text(),
        program.exited,
      ]);
      expect({ said: said.trim(), code, errors: code === 0 ? "" : errors }).toEqual({
        said: "Hello!",
        code: 0,
        errors: "",
      });
    },
    600_000,
  );
});

test("a call that a chat completion ended with is answered after a kill, also twice, and done once", async () => {
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
