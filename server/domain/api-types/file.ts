import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { chunkSources, filePurposes, fileStatuses } from "./enums.ts";
import { CodedError, resource } from "./schema.ts";

export const File = resource("File", "file", {
  filename: t.text,
  mime_type: t.text,
  bytes: t.integer,
  sha256: t.text,
  purpose: t.oneOf(filePurposes),
  status: t.oneOf(fileStatuses),
  error: t.orNull(CodedError),
  chunks: t.integer,
  pages: t.orNull(t.integer),
  memory_ids: t.list(t.text),
  processed: t.integer,
  total: t.orNull(t.integer),
  run_id: t.orNull(t.text),
  tool_call_id: t.orNull(t.text),
  expires_at: t.orNull(t.time),
});
export type File = Static<typeof File>;

export const FileChunk = t.named(
  "FileChunk",
  t.object({
    chunk_index: t.integer,
    text: t.text,
    tokens: t.integer,
    page: t.orNull(t.integer),
    heading: t.orNull(t.text),
    boxes: t.orNull(t.list(t.object({ left: t.number, top: t.number, right: t.number, bottom: t.number }))),
    source: t.oneOf(chunkSources),
  }),
);
export type FileChunk = Static<typeof FileChunk>;
