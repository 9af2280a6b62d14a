import { missingSession } from "../../dashboard-api/auth.ts";
import { errorEvent, type PublicUrl } from "../../http/errors.ts";

/** Ends a stream from another cell soon after its reader signs out, as the cell with the accounts does for its own. */
export function bindToSession(
  answer: Response,
  isSignedIn: () => boolean,
  publicUrl: PublicUrl,
  look_ms = 500,
): Response {
  if (!answer.body || !answer.headers.get("content-type")?.startsWith("text/event-stream")) return answer;
  const reader = answer.body.getReader();
  let isWhole = true;
  let timer: Timer | undefined;
  const sessionEnd = Promise.withResolvers<"over">();
  const body = new ReadableStream<Uint8Array>({
    start() {
      timer = setInterval(() => isSignedIn() || sessionEnd.resolve("over"), look_ms);
    },
    async pull(controller) {
      const next = await Promise.race([sessionEnd.promise, reader.read()]).catch((error) => {
        clearInterval(timer);
        throw error;
      });
      if (next !== "over" && !next.done) {
        isWhole = endsEvent(next.value);
        return controller.enqueue(next.value);
      }
      clearInterval(timer);
      if (next === "over") {
        void reader.cancel().catch(() => {});
        if (isWhole) controller.enqueue(new TextEncoder().encode(errorEvent(missingSession(false), publicUrl)));
      }
      controller.close();
    },
    cancel(reason) {
      clearInterval(timer);
      return reader.cancel(reason);
    },
  });
  return new Response(body, answer);
}

const endsEvent = (bytes: Uint8Array): boolean => bytes.at(-1) === 10 && bytes.at(-2) === 10;
