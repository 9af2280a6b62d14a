import { expect } from "bun:test";
import { createScripted } from "./fixtures.ts";
import type { Json, Runnel } from "./harness.ts";

// Write side for Durable Streams' conformance suite, which writes its own test data, while only agents write runs: each
// stream is a run whose model calls a tool repeatedly, and each append is the next output. Reads come from
// `/streams/v1` with status and headers unchanged; of the messages only those outputs are kept.

/** Number of appends that one stream takes. */
const maxAppends = 199;

interface Stream {
  run: string;
  /** Id of the waiting call. */
  call: string;
  /** Last known seq of the run. */
  seen: number;
  type: string;
}

interface Message {
  event: string;
  data: { status?: string; result?: string };
}

const toText = (type: string, messages: readonly Message[]): string => {
  const outputs = messages.flatMap(({ event, data }) =>
    event === "tool.completed" && data.status === "completed" ? [data.result!] : [],
  );
  const written = outputs.map((output) => Buffer.from(output, "base64"));
  if (!isJson(type)) return Buffer.concat(written).toString("latin1");
  return JSON.stringify(written.flatMap((bytes) => JSON.parse(bytes.toString())));
};

const isJson = (type: string): boolean => /^application\/json\b/i.test(type);

/** Serves a write side of this server on its own port, until it is disposed of. */
export async function serveWriter(server: Runnel) {
  const turn = { tool_calls: [{ name: "take", arguments: {} }] };
  const agent_id = await createScripted(server, [...Array(maxAppends).fill(turn), { text: "" }], {
    max_turns: maxAppends + 1,
  });
  const tools = [{ type: "client", name: "take", description: "Takes.", parameters: { type: "object" } }];
  const streams = new Map<string, Stream>();
  const waiting = ({ required_action }: Json): string => required_action.submit_tool_outputs.tool_calls[0].tool_call_id;

  async function create(type: string): Promise<Stream> {
    const { body } = await server.post("/v1/runs?wait=60", { agent_id, input: "Go.", tools });
    const { headers } = await server.fetch(`/streams/v1/runs/${body.id}`, { method: "HEAD" });
    const [seen] = headers.get("stream-next-offset")!.split("_");
    return { run: body.id, call: waiting(body), seen: Number(seen), type };
  }

  async function append(stream: Stream, body: ArrayBuffer, isLast: boolean): Promise<void> {
    const run = `/v1/runs/${stream.run}`;
    if (body.byteLength > 0) {
      const tool_outputs = [{ tool_call_id: stream.call, output: Buffer.from(body).toString("base64") }];
      const said = await server.post(`${run}/submit_tool_outputs`, { tool_outputs });
      expect(said).toMatchObject({ status: 200 });
      await using events = await server.stream(`${run}/events`, { after: String(stream.seen) });
      const { data } = await events.until("run.requires_action");
      [stream.call, stream.seen] = [waiting(data), data.seq];
    }
    if (isLast) expect(await server.post(`${run}/cancel`)).toMatchObject({ status: 200 });
  }

  const pathOf = (stream: Stream | undefined): string =>
    `/streams/v1/runs/${stream?.run ?? "run_00000000000000000000000000"}`;

  async function write(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const given = streams.get(pathname);
    const type = request.headers.get("content-type") ?? "application/octet-stream";
    const isNew = given === undefined && request.method === "PUT";
    const stream = isNew ? await create(type) : given;
    if (!stream) return new Response(null, { status: 404 });
    streams.set(pathname, stream);
    await append(stream, await request.arrayBuffer(), request.headers.get("stream-closed") === "true");
    const { headers } = await server.fetch(pathOf(stream), { method: "HEAD" });
    const told = ["stream-next-offset", "stream-closed"].flatMap((name) =>
      headers.has(name) ? [[name, headers.get(name)!]] : [],
    );
    const answer = { ...Object.fromEntries(told), location: request.url, "content-type": stream.type };
    return new Response(null, { status: isNew ? 201 : 204, headers: answer });
  }

  async function read(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const stream = streams.get(pathname);
    const { method, signal } = request;
    const asked = new Headers(
      [...request.headers].filter(([name]) => /^(if-|accept$|cache-|origin$|access-)/.test(name)),
    );
    const answer = await server.fetch(pathOf(stream) + search, { method, headers: asked, signal });
    const headers = new Headers(answer.headers);
    for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
    const { status } = answer;
    if (!stream || status !== 200 || method !== "GET") {
      if (stream && status < 400 && status !== 204) headers.set("content-type", stream.type);
      return new Response(status === 200 || !answer.body ? null : await answer.text(), { status, headers });
    }
    if (headers.get("content-type")?.startsWith("text/event-stream"))
      return new Response(answer.body!.pipeThrough(eventsAs(stream.type)), { status, headers });
    headers.set("content-type", stream.type);
    const text = toText(stream.type, (await answer.json()) as Message[]);
    return new Response(Buffer.from(text, "latin1"), { status, headers });
  }

  const listening = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => (["GET", "HEAD", "OPTIONS"].includes(request.method) ? read(request) : write(request)),
  });
  return {
    url: listening.url.origin,
    [Symbol.asyncDispose]: () => listening.stop(true),
  };
}

/** Returns the events of a stream, each message in the stream's type; empty data is left out. */
function eventsAs(type: string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const found = /^event: data\ndata:(.*)$/.exec(block);
        if (!found) {
          controller.enqueue(Buffer.from(`${block}\n\n`));
          continue;
        }
        const text = toText(type, JSON.parse(found[1]!));
        if (text === "" || text === "[]") continue;
        const lines = text.split(/\r\n|\r|\n/).map((line) => `data:${line}`);
        controller.enqueue(Buffer.from(`event: data\n${lines.join("\n")}\n\n`, "latin1"));
      }
    },
  });
}
