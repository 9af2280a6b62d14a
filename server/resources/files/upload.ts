import { missingParameter, noSuch, repeatedParameter } from "../../domain/error-messages.ts";
import { AppError, isRefusal } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { chunksOf, parseJsonBody, readBody, refuseCompressed, throwBodyError } from "../../http/json-body.ts";
import { type PartHead, readBoundary, readMultipart } from "../../http/multipart.ts";
import type { BodyReader, ReadBody } from "../../http/operation.ts";
import { parseJson } from "../../http/parse-json.ts";
import { headBytes } from "../../runtime/documents/file-type.ts";
import type { FileBlobs, Upload } from "../../storage/db/file-blobs.ts";
import { mostBytes } from "./client-token-rules.ts";
import type { CreateFile } from "./schema.ts";

/** A received upload. */
export interface ReceivedFile {
  upload: Upload;
  /** First bytes, for type detection. */
  head: Uint8Array;
}

/** Most bytes of a multipart body beside its file; no real client sends more. */
const overheadBytes = 1024 * 1024;
const fieldBytes = 64 * 1024;
const fields = new Set([
  "purpose",
  "metadata",
  "expires_in_seconds",
  "memory_id",
  "scope_id",
  "chunking",
  "encoding",
  "include_hidden",
]);

export type Uploader = ReturnType<typeof createUploader>;

/**
 * Receives uploads, as JSON or multipart. The route that admitted the request discards the content unless it takes it.
 */
export function createUploader({ blobs, requireRoom }: { blobs: FileBlobs; requireRoom: () => void }) {
  const pendingUploads = new WeakMap<Request, ReceivedFile>();

  /** Parses the body, in either form, for the JSON schema. */
  const read: BodyReader = async (request, principal) => {
    if (/^multipart\/form-data\b/i.test(request.headers.get("content-type") ?? ""))
      return await readParts(request, principal);
    const bytes = await readBody(request);
    return { bytes, parse: () => parseJsonBody(bytes, request.headers) };
  };

  async function readParts(request: Request, scope: Viewer): Promise<ReadBody> {
    const boundary = readBoundary(request.headers.get("content-type") ?? "");
    refuseCompressed(request.headers);
    const maxBytes = mostBytes(scope);
    if (Number(request.headers.get("content-length") ?? 0) > maxBytes + overheadBytes) throw tooLarge(maxBytes);
    const upload = blobs.begin(scope);
    try {
      const form = createForm(upload, maxBytes, requireRoom);
      for await (const item of readMultipart(chunksOf(request), boundary))
        if ("head" in item) form.begin(item.head);
        else await form.add(item.data);
      const { filename, head, texts } = form.end();
      pendingUploads.set(request, { upload, head });
      // Multipart boundaries differ on each try, so a repeated request is recognized by its values.
      const same = JSON.stringify([filename, upload.content().sha256, [...texts].sort()]);
      return { bytes: Buffer.from(same), parse: () => ({ filename, ...valuesOf(texts) }) };
    } catch (error) {
      upload.close();
      return throwBodyError(error, "validation_failed");
    }
  }

  return {
    read,
    /** Takes the content of an admitted request. The caller must close it. */
    async take(request: Request, scope: Scope, body: CreateFile): Promise<ReceivedFile> {
      const receivedFile = pendingUploads.get(request);
      pendingUploads.delete(request);
      refuseSecondContent(body, receivedFile !== undefined);
      if (receivedFile) return receivedFile;
      const bytes = bytesOf(body);
      const upload = blobs.begin(scope);
      try {
        await upload.append(bytes);
      } catch (error) {
        upload.close();
        throw error;
      }
      return { upload, head: bytes.subarray(0, headBytes) };
    },
    /** Discards the content of a request that was refused after its body was read. */
    discard(request: Request): void {
      pendingUploads.get(request)?.upload.close();
      pendingUploads.delete(request);
    },
  };
}

/** Reads a form part by part: the file goes to the upload, the fields are short. */
function createForm(upload: Upload, most: number, requireRoom: () => void) {
  const texts = new Map<string, string>();
  let filename: string | null = null;
  let head = Buffer.alloc(0);
  let field: { name: string; data: Buffer } | null = null;

  function finishField(): void {
    if (field) texts.set(field.name, decode(field.name, field.data));
    field = null;
  }

  function begin({ name, filename: rawFilename }: PartHead): void {
    finishField();
    refusePart(name, name === "file" ? filename !== null : texts.has(name));
    if (name === "file") filename = requireName(rawFilename);
    else field = { name, data: Buffer.alloc(0) };
  }

  async function add(data: Uint8Array): Promise<void> {
    if (field) {
      if (field.data.length + data.length > fieldBytes)
        throw invalid(field.name, `Must have at most ${fieldBytes} bytes.`);
      field.data = Buffer.concat([field.data, data]);
      return;
    }
    requireRoom(); // Checked per piece, because a large file may fill the disk before the next periodic check.
    if (upload.size() + data.length > most) throw tooLarge(most);
    if (head.length < headBytes) head = Buffer.concat([head, data.subarray(0, headBytes - head.length)]);
    await upload.append(data);
  }

  function end() {
    finishField();
    if (filename === null) throw invalid("file", missingParameter, "required");
    return { filename, head, texts };
  }

  return { begin, add, end };
}

function refusePart(name: string, isRepeated: boolean): void {
  if (name !== "file" && !fields.has(name)) throw invalid(name.slice(0, 64), noSuch("parameter"), "unknown_parameter");
  if (isRepeated) throw invalid(name, repeatedParameter);
}

function requireName(filename: string | null): string {
  if (filename === null || filename === "") throw invalid("file", "The part has no filename.");
  return filename;
}

function valuesOf(texts: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries([...texts].map(([name, text]) => [name, fieldValue(name, text)]));
}

/** Parses a field. Unparsable text is passed on, and the schema refuses it. */
function fieldValue(name: string, text: string): unknown {
  if (name === "expires_in_seconds") return /^\d{1,15}$/.test(text) ? Number(text) : text;
  if (name === "include_hidden") return text === "true" || (text === "false" ? false : text);
  if (name !== "metadata" && name !== "chunking") return text;
  try {
    return parseJson(Buffer.from(text));
  } catch (error) {
    if (isRefusal(error, "invalid_json")) throw invalid(name, "This is not JSON.");
    throw error;
  }
}

function refuseSecondContent({ content_base64, text }: CreateFile, hasUpload: boolean): void {
  const contentCount = [hasUpload, content_base64 !== undefined, text !== undefined].filter(Boolean).length;
  if (contentCount !== 1) throw invalid("content_base64", "Give either content_base64 or text.");
}

function bytesOf({ content_base64, text = "" }: CreateFile): Uint8Array {
  if (content_base64 === undefined) return Buffer.from(text);
  try {
    return Uint8Array.fromBase64(content_base64);
  } catch {
    throw invalid("content_base64", "This is not base64.");
  }
}

function decode(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid(name, "This is not valid UTF-8.");
  }
}

const tooLarge = (most: number) => new AppError("file_too_large", `A file has at most ${most} bytes.`);
