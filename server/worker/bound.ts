import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import type { ToolContext } from "./tools/context.ts";
import type { Done } from "./tools/outcome.ts";

/**
 * An output within the tool's `max_output_bytes`. What is larger is kept whole as a file, and the model reads its head
 * and its tail.
 */
export async function bounded(done: Done, tool: ToolSnapshot, keepFile: ToolContext["keepFile"]): Promise<Done> {
  const { output } = done;
  const isText = typeof output === "string";
  const text = isText ? output : JSON.stringify(output ?? null);
  const size = Buffer.byteLength(text);
  if (done.error || size <= tool.max_output_bytes) return done;
  const bytes = new TextEncoder().encode(text);
  const shortened = headAndTail(bytes, tool.max_output_bytes); // Before the bytes are handed over.
  const file = await keepFile({ name: `${tool.name}.${isText ? "txt" : "json"}`, bytes });
  return { ...done, output: shortened(file.id), files: [...(done.files ?? []), file] };
}

function headAndTail(bytes: Uint8Array, max: number): (fileId: string) => string {
  const tail = Math.floor(max / 4);
  const head = max - tail;
  const left = bytes.length - head - tail;
  const [first, last] = [textOf(bytes.subarray(0, head)), textOf(bytes.subarray(bytes.length - tail))];
  return (fileId) =>
    `${first}\n[${left} of ${bytes.length} bytes are left out here; ${fileId} holds all of them]\n${last}`;
}

// A character that the cut went through is no character any more.
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/^�+|�+$/g, "");
