import { AppError } from "../domain/errors.ts";

// Our own parser: streaming libraries are unmaintained, or do not report what they skipped of a malformed body, and the
// others hold every part in memory.

/** Headers of a part. */
export interface PartHead {
  name: string;
  /** As the client sent it: may be a path or anything else. Null if absent. */
  filename: string | null;
}

/** Start of a part, or some of its data; the bytes are valid until the next item is requested. */
type PartItem = { head: PartHead } | { data: Uint8Array };

/** Returns the boundary. Throws if the header is not `multipart/form-data` with a boundary. */
export function readBoundary(contentType: string): string {
  const [, quoted, plain] = boundaryPattern.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed("its Content-Type has no boundary of 1 to 70 characters");
  return boundary;
}

const boundaryPattern =
  /^multipart\/form-data\s*(?:;\s*charset="?utf-8"?\s*)?;\s*boundary=(?:"([\w'()+,./:=? -]{0,69}[\w'()+,./:=?-])"|([\w'+.-]{1,70}))\s*$/i;

/**
 * Yields the parts of a `multipart/form-data` body as they arrive. Holds one chunk; a slow consumer applies
 * back-pressure. Throws if the body is malformed; an early return stops reading.
 */
export async function* readMultipart(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<PartItem, void, undefined> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const input = createInput(body);
  try {
    while (input.held.length < delimiter.length) await input.more();
    if (input.held.indexOf(delimiter) !== 0) throw malformed("it does not begin with its boundary");
    input.drop(delimiter.length);
    while (await isFollowed(input)) {
      yield { head: await readHead(input) };
      yield* readData(input, delimiter);
    }
    await requireEnd(input);
  } finally {
    await input.close();
  }
}

const maxHead = 8 * 1024;

type Input = ReturnType<typeof createInput>;

function createInput(body: AsyncIterable<Uint8Array>) {
  const source = body[Symbol.asyncIterator]();
  // Reused for every chunk: new buffers would produce as much garbage as the file is large.
  let buffer = Buffer.from("\r\n");
  return {
    /** Received bytes that are not parsed yet. The initial line end makes the first boundary like the others. */
    held: buffer,
    async next(): Promise<boolean> {
      const { value, done } = await source.next();
      if (done) return false;
      const { length } = this.held;
      const target = length + value.length > buffer.length ? Buffer.allocUnsafe(length + value.length) : buffer;
      target.set(this.held);
      target.set(value, length);
      buffer = target;
      this.held = target.subarray(0, length + value.length);
      return true;
    },
    async more(): Promise<void> {
      if (!(await this.next())) throw malformed("it ends before its last boundary");
    },
    drop(bytes: number): void {
      this.held = this.held.subarray(bytes);
    },
    async close(): Promise<void> {
      await source.return?.().catch(() => {}); // Its own error was thrown before.
    },
  };
}

/** Reads the end of a boundary; true if another part follows. */
async function isFollowed(input: Input): Promise<boolean> {
  while (input.held.length < 2) await input.more();
  const end = input.held.toString("latin1", 0, 2);
  if (end !== "\r\n" && end !== "--") throw malformed("a boundary is followed by something else");
  input.drop(2);
  return end === "\r\n";
}

async function readHead(input: Input): Promise<PartHead> {
  for (;;) {
    const end = input.held.indexOf("\r\n\r\n");
    if ((end < 0 ? input.held.length : end) > maxHead)
      throw malformed(`the headers of a part have more than ${maxHead} bytes`);
    if (end >= 0) {
      const head = parseHead(input.held.subarray(0, end));
      input.drop(end + 4);
      return head;
    }
    await input.more();
  }
}

async function* readData(input: Input, delimiter: Buffer): AsyncGenerator<PartItem, void, undefined> {
  for (;;) {
    const end = input.held.indexOf(delimiter);
    // Hold back the bytes that may be the start of a boundary.
    const ready = end >= 0 ? end : input.held.length - delimiter.length + 1;
    if (ready > 0) {
      const data = input.held.subarray(0, ready);
      input.drop(ready);
      yield { data };
    }
    if (end >= 0) return input.drop(delimiter.length);
    await input.more();
  }
}

async function requireEnd(input: Input): Promise<void> {
  do
    if (/[^\s]/.test(input.held.toString("latin1")) || input.held.length > 64)
      throw malformed("it goes on after its end");
  while (await input.next());
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parseHead(bytes: Uint8Array): PartHead {
  const headers = new Map<string, string>();
  for (const line of decode(bytes).split("\r\n")) {
    const [, name = "", value = ""] = /^([\w-]+):[ \t]*(.*)$/s.exec(line) ?? [];
    if (name === "" || headers.has(name.toLowerCase())) throw malformed("a part has a header that is none, or twice");
    headers.set(name.toLowerCase(), value.trim());
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (!["binary", "7bit", "8bit"].includes(encoding)) throw malformed("a part is encoded");
  return parseDisposition(headers.get("content-disposition") ?? "");
}

function parseDisposition(value: string): PartHead {
  const found = new Map<string, string>();
  const parameter = /[ \t]*;[ \t]*([\w*-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))[ \t]*/gsy;
  parameter.lastIndex = "form-data".length;
  let read = parameter.lastIndex;
  for (let match = parameter.exec(value); match; match = parameter.exec(value)) {
    const [, name = "", quoted, plain = ""] = match;
    if (found.has(name)) throw malformed("a part has a name twice");
    found.set(name, quoted?.replace(/\\(["\\])/g, "$1") ?? plain);
    read = parameter.lastIndex;
  }
  const name = found.get("name");
  if (!/^form-data/i.test(value) || read !== value.length || name === undefined) throw malformed("a part has no name");
  return { name, filename: extended(found.get("filename*")) ?? unescaped(found.get("filename")) };
}

/** Decodes `filename*`, which some clients send for names beyond ASCII. */
function extended(value: string | undefined): string | null {
  const [, encoded] = /^utf-8'[^']*'(.*)$/is.exec(value ?? "") ?? [];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw malformed("a file name is not in UTF-8");
  }
}

// Browsers escape exactly these three characters.
const unescaped = (name: string | undefined): string | null =>
  name?.replace(/%(22|0D|0A)/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))) ?? null;

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed("the headers of a part are not in UTF-8");
  }
}

const malformed = (why: string): AppError =>
  new AppError("validation_failed", `The body is not multipart/form-data: ${why}.`);
