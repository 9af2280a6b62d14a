import { createStreamMask, unmaskedJson } from "../../lib/exact-masks.ts";
import type { Fetch } from "./model-fetch.ts";

// Fields in which providers send the arguments of a call as JSON and not as a text.
const fields: ReadonlySet<string> = new Set(["args", "partialArgs", "input", "arguments"]);

const pieceMax_bytes = 8 * 1024 * 1024;

/** A fetch for the SDKs, which parse responses themselves: numbers in arguments keep all digits. */
export function exactFetch(fetch: Fetch): Fetch {
  const exact = async (url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]): Promise<Response> => {
    const sent = typeof init?.body === "string" ? { ...init, body: unmaskedJson(init.body) } : init;
    const response = await fetch(url, sent);
    if (!response.body || !response.ok) return response;
    const { status, statusText, headers } = response;
    const isWhole = headers.get("content-type")?.startsWith("application/json");
    return new Response(masked(response.body, isWhole ? "whole" : "event"), { status, statusText, headers });
  };
  return Object.assign(exact, { preconnect: fetch.preconnect });
}

function masked(body: ReadableStream<Uint8Array>, piece: "whole" | "event"): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const pieces = createStreamMask(piece, fields, pieceMax_bytes);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { value, done } = await reader.read();
          const ready = value ? pieces.push(value) : pieces.end();
          if (ready.length > 0) controller.enqueue(ready);
          if (done) return controller.close();
          if (ready.length > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
