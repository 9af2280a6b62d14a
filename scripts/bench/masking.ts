/**
 * Measures the search for secrets in tool outputs: `bun scripts/bench/masking.ts`, on the executable
 * (`RUNNEL_EXECUTABLE`, by default dist/runnel). While a tool's long output is masked, it sends one `GET /healthz`
 * after the other: the longest one is the delay for others. It reports and tests nothing; README.md explains the
 * figures.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../root.ts";
import { memory, start } from "./processes.ts";

const size = 4_194_000;
const filled = (piece: string): string => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
const article = `<p class="x">Fish &amp; chips cost 100&nbsp;% more, said <a href="/a?b=%C3%BC&amp;c=1">O&#39;Brien</a>.</p>\n`;
const answers: Record<string, string> = {
  numbers: `[${filled("1,")}1]`,
  words: JSON.stringify(Array.from({ length: size / 14 }, () => "some words")),
  html: filled(article),
  escapes: filled("%41\\u0041&#65;"),
};

const folder = mkdtempSync(join(tmpdir(), "runnel-masking-"));
// A raw socket, because the server must accept 400 KB of headers.
using tools = Bun.listen<{ head: string; left: Uint8Array }>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { head: "", left: new Uint8Array() };
    },
    data(socket, bytes) {
      socket.data.head += bytes.toString("latin1");
      const [, path] = /^\w+ \/(\w*).*\r\n\r\n/s.exec(socket.data.head) ?? [];
      if (path === undefined) return;
      const body = answers[path] ?? "";
      socket.data.left = Buffer.from(
        `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      socket.data.head = "";
      send(socket);
    },
    drain: send,
  },
});

function send(socket: Bun.Socket<{ left: Uint8Array }>): void {
  if (socket.data.left.length === 0) return;
  socket.data.left = socket.data.left.subarray(socket.write(socket.data.left));
  if (socket.data.left.length === 0) socket.end();
}

try {
  const command = [process.env.RUNNEL_EXECUTABLE ?? inProject("dist/runnel"), "serve", "--json", "--port", "0"];
  const flags = ["--insecure-http", "--data-dir", join(folder, "data")];
  await using server = await start<{ address: string; keys: { test: string } }>([...command, ...flags], {
    cwd: folder,
    core: "system",
  });
  const { address, keys } = server.line;
  const headers = { authorization: `Bearer ${keys.test}`, "content-type": "application/json" };

  async function post(path: string, body: object): Promise<{ status: number; body: { id: string; status?: string } }> {
    const response = await fetch(`${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as { id: string } };
  }

  /** Runs the work and returns its duration, the longest delay of others, and the growth of memory. */
  async function beside(work: () => Promise<unknown>): Promise<object> {
    const [before, begun] = [memory(server.pid), performance.now()];
    let [over, waited, peak, asked] = [false, 0, before, 0];
    const watch = setInterval(() => (peak = Math.max(peak, memory(server.pid))), 10);
    const done = work().finally(() => (over = true));
    while (!over) {
      const sent = performance.now();
      await fetch(`${address}/healthz`);
      waited = Math.max(waited, performance.now() - sent);
      asked++;
      await Bun.sleep(2);
    }
    const said = await done;
    clearInterval(watch);
    const took_ms = Math.round(performance.now() - begun);
    return { took_ms, waited_ms: Math.round(waited), asked, grown_MiB: Math.round(peak - before), said };
  }

  let count = 0;
  const tool = (answer: string, more: object) =>
    post("/v1/tools", {
      name: `tool_${++count}`,
      url: `http://127.0.0.1:${tools.port}/${answer}`,
      parameters: { type: "object", properties: {} },
      headers: { authorization: "Bearer canary-0123456789abcdef" },
      ...more,
    });
  const figures: Record<string, object> = {};
  const tried = async (answer: string, more: object) => {
    const { status, body } = await tool(answer, more);
    if (status !== 201) return `refused with ${status}`;
    return `tried: ${(await post(`/v1/tools/${body.id}/test`, { arguments: {} })).status}`;
  };
  const text = { response: "text" };
  await beside(() => tried("html", text)); // The first call starts threads and compiles code.
  figures["a tool is tried: [1,1,…]"] = await beside(() => tried("numbers", {}));
  figures["a tool is tried: short texts"] = await beside(() => tried("words", {}));
  figures["a tool is tried: HTML"] = await beside(() => tried("html", text));
  figures["a tool is tried: nothing but escapes"] = await beside(() => tried("escapes", text));

  const runs: string[] = [];
  for (const answer of ["html", "html"]) {
    const made = await tool(answer, text);
    const call = { name: `tool_${count}`, arguments: {} };
    const script = [{ tool_calls: Array.from({ length: 10 }, () => call) }, { text: "Done." }];
    const model_settings = { script };
    const agent = { name: "a", instructions: "", model: "test/script", model_settings, tools: [made.body.id] };
    runs.push((await post("/v1/agents", agent)).body.id);
  }
  figures["two runs with ten calls each: HTML"] = await beside(async () => {
    const ended = await Promise.all(runs.map((agent_id) => post("/v1/runs?wait=60", { agent_id, input: "Go" })));
    return ended.map(({ body }) => body.status).join(", ");
  });
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x-${i}`, secrets(8192)]));
  figures["50 headers of 8 KB with 41,000 secrets"] = await beside(() => tried("html", { ...text, headers: many }));
  console.table(figures);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function secrets(length: number): string {
  let value = "";
  while (value.length < length - 10) value += `${Math.random().toString(36).slice(2, 11).padEnd(9, "x")},`;
  return value.slice(0, -1);
}
