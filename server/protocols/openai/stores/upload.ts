import { invalid } from "../../../http/errors.ts";
import { chunksOf } from "../../../http/json-body.ts";
import { type PartHead, readBoundary, readMultipart } from "../../../http/multipart.ts";
import { entryOf } from "../../../lib/collections.ts";
import { requireValue } from "../../../lib/require-value.ts";
import { wordIn } from "./lists.ts";

/** Purposes of files, from OpenAI's words. Files for batches, fine-tuning and evaluations are not supported. */
export const purposes = { assistants: "retrieval", user_data: "attachment", vision: "attachment" } as const;

/** Translates upload fields to the API's; others are dropped. */
const translations: Record<string, (value: string) => [name: string, value: string] | null> = {
  purpose: (value) => ["purpose", wordIn(purposes, "purpose", value)],
  "expires_after[seconds]": (value) => ["expires_in_seconds", value],
  "expires_after[anchor]": (value) => {
    if (value !== "created_at") throw invalid("expires_after.anchor", "Must be created_at.");
    return null;
  },
};

const valueMax_bytes = 1024;

/** Converts an upload for the API as it arrives, without buffering it. */
export function translatedUpload(request: Request): { type: string; content: ReadableStream<Uint8Array> } {
  const given = readBoundary(request.headers.get("content-type") ?? "");
  const boundary = crypto.randomUUID(); // Random, so that no content can contain it.
  const parts = translated(readMultipart(chunksOf(request), given), boundary);
  const content = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void parts.return(),
  });
  return { type: `multipart/form-data; boundary=${boundary}`, content };
}

async function* translated(
  items: ReturnType<typeof readMultipart>,
  boundary: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const fields = new Map<string, Buffer>();
  let [name, before] = ["", ""];
  const headOf = (parameters: string): string => {
    const head = `${before}--${boundary}\r\ncontent-disposition: form-data; ${parameters}\r\n\r\n`;
    before = "\r\n";
    return head;
  };
  for await (const item of items) {
    if ("head" in item) {
      ({ name } = item.head);
      if (name === "file") yield Buffer.from(headOf(`name="file"; ${filenameOf(item.head)}`));
      else if (Object.hasOwn(translations, name)) fields.set(name, Buffer.alloc(0));
    } else if (name === "file") yield Uint8Array.from(item.data);
    else if (fields.has(name)) fields.set(name, longer(name, entryOf(fields, name), item.data));
  }
  for (const [key, value] of fields) {
    const translatedField = requireValue(translations[key], `The field ${key}`)(value.toString());
    if (translatedField) yield Buffer.from(`${headOf(`name="${translatedField[0]}"`)}${translatedField[1]}`);
  }
  yield Buffer.from(`${before}--${boundary}--\r\n`);
}

const filenameOf = ({ filename }: PartHead): string => `filename*=utf-8''${encodeURIComponent(filename ?? "")}`;

function longer(name: string, value: Buffer, data: Uint8Array): Buffer {
  if (value.length + data.length <= valueMax_bytes) return Buffer.concat([value, data]);
  throw invalid(name.slice(0, 64), `Must have at most ${valueMax_bytes} bytes.`);
}
