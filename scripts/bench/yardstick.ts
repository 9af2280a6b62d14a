/**
 * What the product is measured against, by the first argument: `hello` is a bare `Bun.serve`, `read` a bare Elysia with
 * one prepared read, `pipe` passes the model's bytes on as they come. The second and third argument are a certificate
 * and its key, without which it speaks plain HTTP. It prints its address.
 */
import { Database } from "bun:sqlite";
import { Elysia } from "elysia";

const [kind = "hello", cert, key, upstream] = process.argv.slice(2);
const tls = cert && key ? { cert: Bun.file(cert), key: Bun.file(key) } : undefined;
const listen = { port: 0, hostname: "127.0.0.1", idleTimeout: 0, ...(tls && { tls }) };

const port = start();
console.log(JSON.stringify({ url: `${tls ? "https" : "http"}://127.0.0.1:${port}` }));

function start(): number {
  if (kind === "read") return readServer();
  const hello = () => new Response("hello");
  const pipe = (request: Request) => fetch(`${upstream}/pipe/${new URL(request.url).pathname.slice(1)}`);
  return Bun.serve({ ...listen, fetch: kind === "pipe" ? pipe : hello }).port ?? 0;
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
