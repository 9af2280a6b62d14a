import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent, createScripted, createTool } from "./fixtures.ts";
import { type Json, type Runnel, runProgram, startRunnel } from "./harness.ts";
import { wordsOf } from "./model-server.ts";
import { shownIn, uiModules, writePrograms } from "./ui-clients.ts";

// Third-party clients of user interfaces outside of a browser, unmodified, over TLS.

const modules = await uiModules();
if (!modules) console.warn("skipped: clients of user interfaces (no npm registry)");

describe.skipIf(!modules)("with its real client", () => {
  let server: Runnel;
  const folder = mkdtempSync(join(tmpdir(), "runnel-ui-"));
  beforeAll(async () => {
    server = await startRunnel();
    writeFileSync(join(folder, "ca.pem"), server.ca ?? "");
    writePrograms(join(folder, "app"), modules!, {
      "ai-sdk-ui.mjs": shownIn("ai-sdk-ui", "javascript"),
      "ag-ui.mjs": shownIn("ag-ui", "javascript"),
      "tanstack.mjs": shownIn("ag-ui", "js"),
      "whole.mjs": whole,
      "second-ai-sdk.mjs": secondOfAiSdk,
      "second-ag-ui.mjs": secondOfAgUi,
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(program: string, AGENT: string, client = "@ag-ui/client"): Promise<string> {
    const { code, stdout, stderr } = await runProgram(["node", program, client], join(folder, "app"), {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      AGENT,
      RUNNEL_URL: server.url,
      RUNNEL_API_KEY: server.keys.test,
      NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
    });
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    return stdout.trim();
  }

  test.each(["ai-sdk-ui", "ag-ui"])("the program of the page %s gets an agent's answer", async (page) => {
    expect(await run(`${page}.mjs`, await createAgent(server, "test/echo"))).toBe("Hello!");
  });

  test("the chat of TanStack AI, as the page shows it, gets an agent's answer", async () => {
    expect(await run("tanstack.mjs", await createAgent(server, "test/echo"))).toBe("Hello!");
  });

  /** An agent that counts long enough for a second message. */
  const counting = () => createScripted(server, [{ text: wordsOf(60), delta_ms: 25 }, { text: "Done." }]);
  const answers = [
    ["user", "Count."],
    ["assistant", wordsOf(60)],
    ["user", "And then?"],
    ["assistant", "Done."],
  ];

  test("a second message of `useChat` is answered by the same run, after the first answer, also after a reload", async () => {
    const agent = await counting();
    const { messages, reloaded, status } = JSON.parse(await run("second-ai-sdk.mjs", agent));
    expect({ messages, reloaded, status }).toEqual({ messages: answers, reloaded: answers, status: "ready" });
    expect((await server.get(`/v1/runs?agent_id=${agent}`)).body.data).toHaveLength(1);
  });

  test.each(["@ag-ui/client", "ag-ui-client-0"])(
    "a second message of %s is answered by the same run",
    async (client) => {
      const agent = await counting();
      expect(JSON.parse(await run("second-ag-ui.mjs", agent, client))).toEqual({ messages: answers, told: answers });
      expect((await server.get(`/v1/runs?agent_id=${agent}`)).body.data).toHaveLength(1);
    },
  );

  test.each([
    ["@ag-ui/client", "1.0"],
    ["ag-ui-client-0", "before 1.0"],
  ])("AG-UI (%s, %s) gets client tools, approvals, structured state and its conversation", async (client) => {
    const tool = await createTool(server, { type: "code", source: "() => 'booked'", approval: "always" });
    const script = [
      { reasoning: "Look.", text: "Well.", tool_calls: [{ name: "near", arguments: { city: "Oslo" } }] },
      { tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] },
      { text: '{"n": 4}' },
    ];
    const output_schema = { type: "object", properties: { n: { type: "integer" } } };
    const agent = await createScripted(server, script, { tools: [tool.id], output_schema });
    const said: Json = JSON.parse(await run("whole.mjs", agent, client));
    expect(said).toEqual({
      pending: ["near"],
      outcome: { type: "interrupt", reason: "tool_approval" },
      state: { n: 4 },
      roles: ["user", "reasoning", "assistant", "tool", "assistant", "tool", "assistant"],
      text: '{"n": 4}',
      told: ["user", "assistant", "tool", "assistant", "tool", "assistant"],
    });
    const { body } = await server.get(`/v1/runs?agent_id=${agent}`);
    expect(body.data.map(({ status }: Json) => status)).toEqual(["completed"]);
  });
});

const whole = `
const { HttpAgent } = await import(process.argv[2]);

const config = {
  url: process.env.RUNNEL_URL + "/ag-ui/v1/agents/" + process.env.AGENT,
  headers: { Authorization: "Bearer " + process.env.RUNNEL_API_KEY },
  threadId: crypto.randomUUID(),
};
const agent = new HttpAgent(config);
const tools = [{ name: "near", description: "Where one is.", parameters: { type: "object" } }];
let outcome;
const follow = { onRunFinishedEvent: ({ event }) => { outcome = event.outcome; } };
agent.addMessage({ id: crypto.randomUUID(), role: "user", content: "Go." });
await agent.runAgent({ tools }, follow);
const calls = agent.messages.flatMap(({ toolCalls = [] }) => toolCalls);
const pending = calls.map((call) => call.function.name);
agent.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: calls[0].id, content: "Here." });
await agent.runAgent({ tools }, follow);
const { type, interrupts } = outcome;
const resume = interrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: { approved: true } }));
await agent.runAgent({ tools, resume }, follow);
const later = new HttpAgent(config);
await later.runAgent();
process.stdout.write(JSON.stringify({
  pending,
  outcome: { type, reason: interrupts[0].reason },
  state: agent.state,
  roles: agent.messages.map(({ role }) => role),
  text: agent.messages.at(-1).content,
  told: later.messages.map(({ role }) => role),
}));
`;

const secondOfAiSdk = `
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";

const api = process.env.RUNNEL_URL + "/ui/v1/agents/" + process.env.AGENT + "/chat";
const headers = { Authorization: "Bearer " + process.env.RUNNEL_API_KEY };
const id = crypto.randomUUID();
const chat = new Chat({ id, transport: new DefaultChatTransport({ api, headers }) });
const shown = (messages) => messages.map(({ role, parts }) => [
  role,
  parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
]);
const first = chat.sendMessage({ text: "Count." });
while (!(shown(chat.messages)[1]?.[1].length > 20)) await new Promise((resolve) => setTimeout(resolve, 10));
await chat.sendMessage({ text: "And then?" });
await first;
const { messages } = await (await fetch(api + "/" + id, { headers })).json();
process.stdout.write(JSON.stringify({ messages: shown(chat.messages), reloaded: shown(messages), status: chat.status }));
`;

const secondOfAgUi = `
const { HttpAgent } = await import(process.argv[2]);

const config = {
  url: process.env.RUNNEL_URL + "/ag-ui/v1/agents/" + process.env.AGENT,
  headers: { Authorization: "Bearer " + process.env.RUNNEL_API_KEY },
  threadId: crypto.randomUUID(),
};
const agent = new HttpAgent(config);
const shown = ({ messages }) => messages.map(({ role, content }) => [role, content]);
agent.addMessage({ id: crypto.randomUUID(), role: "user", content: "Count." });
const first = agent.runAgent();
while (!(agent.messages[1]?.content?.length > 20)) await new Promise((resolve) => setTimeout(resolve, 10));
agent.addMessage({ id: crypto.randomUUID(), role: "user", content: "And then?" });
await agent.runAgent();
await first;
const later = new HttpAgent(config);
await later.runAgent();
process.stdout.write(JSON.stringify({ messages: shown(agent), told: shown(later) }));
`;
