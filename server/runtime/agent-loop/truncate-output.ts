import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import type { ToolContext } from "./tools/context.ts";
import type { ToolResult } from "./tools/tool-result.ts";

/**
 * Returns an output within the tool's `max_output_bytes`. A larger one is stored as a file, and the model gets its head
 * and tail.
 */
export async function truncateOutput(
  done: ToolResult,
  tool: ToolSnapshot,
  keepFile: ToolContext["keepFile"],
): Promise<ToolResult> {
  const { output } = done;
  const isText = typeof output === "string";
  const text = isText ? output : JSON.stringify(output ?? null);
  const size = Buffer.byteLength(text);
  if (done.error || size <= tool.max_output_bytes) return done;
  const bytes = new TextEncoder().encode(text);
  const shortened = headAndTail(bytes, tool.max_output_bytes); // Before the bytes are transferred.
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

// Removes replacement characters of characters that the cut split.
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).replace(/^�+|�+$/g, "");
