import { closeSync, rmSync } from "node:fs";
import { onAbort } from "../../lib/on-abort.ts";
import { openUnnamed, piecesOf } from "./workspace.ts";

/** Streams the file at the client's pace, and deletes it at the end or when the client disconnects. */
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
  onAbort([signal], close); // Also if the client disconnects before it reads.
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
