import type { ConnectionCheck, Tried } from "../domain/api-types/console.ts";
import { toAppError } from "../http/errors.ts";

const type = "application/x-ndjson";

/** True if the client wants each check as soon as it is done. */
export const wantsLines = (request: Request): boolean => request.headers.get("accept")?.includes(type) ?? false;

type Test = (signal: AbortSignal, onCheck: (check: ConnectionCheck) => void) => Promise<Tried>;

/**
 * Streams a test as lines of JSON: `{check}` for each check when it is done, and `{result}` or `{error}` at the end. The
 * test ends if the client leaves.
 */
export function testStream(signal: AbortSignal, test: Test): Response {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (line: object): void => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      try {
        send({ result: await test(AbortSignal.any([signal, gone.signal]), (check) => send({ check })) });
      } catch (error) {
        const { code, message } = toAppError(error);
        send({ error: { code, message } });
      }
      if (!gone.signal.aborted) controller.close();
    },
    cancel: () => gone.abort(),
  });
  return new Response(body, { headers: { "content-type": type, "cache-control": "no-store" } });
}
