/**
 * Baselines of the product, by the first argument: `hello` is a bare `Bun.serve`, `read` a bare Elysia with one
 * prepared read, `pipe` forwards the model's bytes, `relay` calls the model, reads its stream to the end, keeps it in
 * memory and returns one JSON: a run without a journal. The second and third argument are a certificate and its key;
 * without them it serves plain HTTP. It prints its address.
 */
import { Database } from "bun:sqlite";
import { Elysia } from "elysia";

const [kind = "hello", cert, key, upstream] = process.argv.slice(2);
const tls = cert && key ? { cert: Bun.file(cert), key: Bun.file(key) } : undefined;
const listen = { port: 0, hostname: "127.0.0.1", idleTimeout: 0, ...(tls && { tls }) };

const kept: object[] = [];
const port = start();
console.log(JSON.stringify({ url: `${tls ? "https" : "http"}://127.0.0.1:${port}` }));

function start(): number {
  if (kind === "read") return readServer();
  const hello = () => new Response("hello");
  const pipe = (request: Request) => fetch(`${upstream}/pipe/${new URL(request.url).pathname.slice(1)}`);
  const handlers: Record<string, (request: Request) => Response | Promise<Response>> = { hello, pipe, relay };
  return Bun.serve({ ...listen, fetch: handlers[kind]! }).port ?? 0;
}

async function relay(request: Request): Promise<Response> {
  const { model, input } = (await request.json()) as { model: string; input: string };
  const response = await fetch(`${upstream}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: input }] }),
  });
  let output = "";
  for (const line of (await response.text()).split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const { choices } = JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] };
    output += choices[0]?.delta.content ?? "";
  }
  const run = { id: crypto.randomUUID(), status: "completed", input, output };
  kept.push(run);
  if (kept.length > 10_000) kept.shift();
  return Response.json(run);
}

function readServer(): number {
  const db = new Database(":memory:");
  db.run("CREATE TABLE agents (id TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT");
  db.query("INSERT INTO agents (id, body) VALUES (?, ?)").run(
    "agt_1",
    JSON.stringify({ name: "A", instructions: "B".repeat(200) }),
  );
  const read = db.query<{ body: string }, [string]>("SELECT body FROM agents WHERE id = ?");
  const app = new Elysia().get("/agents/:id", ({ params }) => JSON.parse(read.get(params.id)!.body));
  app.listen(listen);
  return app.server?.port ?? 0;
}
