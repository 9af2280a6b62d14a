import type { Static } from "@sinclair/typebox";
import { filePurposes, fileStatuses } from "./names.ts";
import { CodedError, integer, list, named, object, oneOf, orNull, resource, text, time } from "./schema.ts";

/** A file that a tool made, as its call tells of it. */
export const FileFacts = object({ id: text, filename: text, mime_type: text, bytes: integer, sha256: text });

export const File = resource("File", "file", {
  filename: text,
  mime_type: text,
  bytes: integer,
  sha256: text,
  purpose: oneOf(filePurposes),
  status: oneOf(fileStatuses),
  error: orNull(CodedError),
  chunks: integer,
  pages: orNull(integer),
  memory_ids: list(text),
  processed: integer,
  total: orNull(integer),
  run_id: orNull(text),
  tool_call_id: orNull(text),
  expires_at: orNull(time),
});
export type File = Static<typeof File>;

export const FileChunk = named(
  "FileChunk",
  object({ chunk_index: integer, text, tokens: integer, page: orNull(integer), heading: orNull(text) }),
);
export type FileChunk = Static<typeof FileChunk>;
