import { lastItem } from "../../lib/collections.ts";
import { parseExact } from "../../lib/exact-numbers.ts";

/** One server-sent event. */
export interface StreamFrame {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events from chunks of any size. Drops comments and an incomplete event at the end. */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamFrame, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = lastItem(blocks);
    for (const block of blocks.slice(0, -1)) {
      const frame = readBlock(block);
      if (frame) yield frame;
    }
  }
}

function readBlock(block: string): StreamFrame | null {
  const fields = new Map(
    block.split("\n").flatMap((line): [string, string][] => {
      const colon = line.indexOf(":");
      return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")]] : [];
    }),
  );
  const [event, data] = [fields.get("event"), fields.get("data")];
  if (event === undefined || data === undefined) return null;
  return { id: fields.get("id") ?? "", event, data: parseExact(data) };
}
