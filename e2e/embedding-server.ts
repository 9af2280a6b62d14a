import type { Json } from "./harness.ts";

/** An OpenAI-compatible embedding model on loopback: texts that share words are near. It can be paused. */
export function startEmbeddingServer(dimensions: number) {
  let gate = Promise.resolve();
  let requests = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { input }: Json = await request.json();
      requests++;
      await gate;
      const data = [input].flat().map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) }));
      return Response.json({ object: "list", model: "words", data, usage: { prompt_tokens: 1, total_tokens: 1 } });
    },
  });

  function vectorOf(text: string): number[] {
    const vector = Array<number>(dimensions).fill(0);
    for (const word of text.toLowerCase().match(/[\p{L}\d]+/gu) ?? [text])
      vector[Number(Bun.hash(word) % BigInt(dimensions))]! += 1;
    return vector;
  }

  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    requests: () => requests,
    /** Holds all responses until the returned function is called. */
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
