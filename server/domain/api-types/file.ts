import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { warningCodes } from "../document-report.ts";
import { chunkSources, filePurposes, fileStatuses } from "./enums.ts";
import { ExpiresAt, MimeType } from "./fields.ts";
import { CodedError, resource } from "./schema.ts";

const FileWarning = t.named(
  "FileWarning",
  t.object({
    code: t.about("The kind of loss or guess, as a fixed word for programs.", t.oneOf(warningCodes)),
    message: t.about("The loss or guess in a sentence, for people.", t.text),
    page: t.about("The page of the document; null where it is about all of it.", t.orNull(t.integer)),
  }),
);

export const File = resource("File", "file", {
  filename: t.about("The name under which the file is stored, with its ending.", t.text),
  mime_type: MimeType,
  bytes: t.about("Its length in bytes.", t.integer),
  sha256: t.about("SHA-256 of the content.", t.text),
  purpose: t.about(
    "`retrieval`: searched by memory stores; `code_interpreter`: read by programs; `attachment`: given to models; `output`: made by a tool.",
    t.oneOf(filePurposes),
  ),
  status: t.about(
    "`uploaded`: it waits; `processing`: its text is being read; `ready`: it can be used; `failed`: see `error`.",
    t.oneOf(fileStatuses),
  ),
  error: t.about("Why it could not be read; null where it could.", t.orNull(CodedError)),
  chunks: t.about("How many chunks the text has.", t.integer),
  pages: t.about(
    "How many pages the document has; null while that is not known, or where it has none.",
    t.orNull(t.integer),
  ),
  pages_done: t.about(
    "How many pages are read so far; null while that is not known, or where the document has none.",
    t.orNull(t.integer),
  ),
  characters: t.about("How many characters the text has; null while it is not read.", t.orNull(t.integer)),
  encoding: t.about(
    "The encoding of the text, as declared, detected or given with the upload; null where the format defines it.",
    t.orNull(t.text),
  ),
  include_hidden: t.about("True if hidden text is read as well.", t.boolean),
  warnings: t.about("What was guessed or could not be read.", t.list(FileWarning)),
  memory_ids: t.about("Memory stores that have the file.", t.list(t.text)),
  processed: t.about("How many chunks are embedded by now.", t.integer),
  total: t.about("How many chunks there are; null while that is not known.", t.orNull(t.integer)),
  run_id: t.about("The run that made the file; null for uploads.", t.orNull(t.text)),
  tool_call_id: t.about("The call that made the file; null for uploads.", t.orNull(t.text)),
  expires_at: ExpiresAt,
});
export type File = Static<typeof File>;

export const FileChunk = t.named(
  "FileChunk",
  t.object({
    chunk_index: t.about("The number of the chunk, from 0.", t.integer),
    text: t.about("The words of the chunk, as searches find and models read them.", t.text),
    tokens: t.about("How many tokens it has.", t.integer),
    page: t.about("The page of the document; null where it has none.", t.orNull(t.integer)),
    heading: t.about("The heading above the text; null where there is none.", t.orNull(t.text)),
    boxes: t.about(
      "Where on the page the text is: a box for each of its blocks; null if unknown.",
      t.orNull(
        t.list(
          t.object({
            left: t.about("The left edge, as a fraction of the page's width.", t.number),
            top: t.about("The upper edge, as a fraction of the page's height from its top.", t.number),
            right: t.about("The right edge, as a fraction of the page's width.", t.number),
            bottom: t.about("The lower edge, as a fraction of the page's height from its top.", t.number),
          }),
        ),
      ),
    ),
    source: t.about(
      "Whether the text comes from the document, or was read from an image (OCR) and may be wrong.",
      t.oneOf(chunkSources),
    ),
  }),
);
export type FileChunk = Static<typeof FileChunk>;
