import { closeSync, rmSync } from "node:fs";
import { untilAborted } from "../lib/until-aborted.ts";
import { openUnnamed, piecesOf } from "./workspace.ts";

/** Read as fast as the client takes it; the file is gone when it has all of it, or goes away. */
export function capsuleBody(path: string, signal: AbortSignal): ReadableStream<Uint8Array> {
  const handle = openUnnamed(path);
  const pieces = piecesOf(handle);
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    closeSync(handle);
    rmSync(path, { force: true });
  };
  untilAborted([signal], close); // Also of an answer that nobody has begun to read, or whose reader has gone already.
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { value, done } = open ? pieces.next() : { value: undefined, done: true as const };
        if (!done) return controller.enqueue(value);
        close();
        controller.close();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );
}
