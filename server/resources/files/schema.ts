import { type Static, Type } from "@sinclair/typebox";
import { filePurposes, fileStatuses, uploadPurposes } from "../../domain/api-types/enums.ts";
import { Chunking, idOf, Metadata, ScopeId } from "../../http/schemas.ts";
import { about, closedObject, named, oneOf } from "../../lib/schema.ts";

const tenYears_seconds = 315_360_000;

/** JSON body of an upload. In multipart uploads `filename` is part of the part `file`. */
export const CreateFile = closedObject({
  filename: about(
    "The name under which the file is stored. Its ending tells the format.",
    Type.String({ minLength: 1, maxLength: 4096 }),
  ),
  purpose: about(
    "`retrieval`: searched by memory stores; `code_interpreter`: read by programs; `attachment`: given to models.",
    oneOf(uploadPurposes),
  ),
  content_base64: about("The content, in base64; or give a `text`.", Type.Optional(Type.String())),
  text: about("The content, as text; or give `content_base64`.", Type.Optional(Type.String())),
  memory_id: about("A vector store that is to have it.", Type.Optional(idOf("memory"))),
  scope_id: about("The user or the session that it belongs to, if the store is scoped to one.", Type.Optional(ScopeId)),
  chunking: about("How the text is split into chunks.", Type.Optional(Chunking)),
  encoding: about(
    "The encoding of the text, such as `shift_jis`, if the file does not declare it. Default: it is detected.",
    Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  ),
  include_hidden: about(
    "True to read hidden text, sheets, rows, columns and slides as well, and deletions of tracked changes. Default: false.",
    Type.Optional(Type.Boolean()),
  ),
  metadata: Type.Optional(Metadata),
  expires_in_seconds: about(
    "After how many seconds the file is deleted. Default: never.",
    Type.Optional(Type.Integer({ minimum: 1, maximum: tenYears_seconds })),
  ),
});
export type CreateFile = Static<typeof CreateFile>;

/** The same as a multipart form. Limits of its fields are checked by `CreateFile`. */
export const CreateFileInParts = Type.Object({
  file: about("The content, with its name.", Type.String({ contentMediaType: "application/octet-stream" })),
  purpose: about(
    "`retrieval`: searched by memory stores; `code_interpreter`: read by programs; `attachment`: given to models.",
    oneOf(uploadPurposes),
  ),
  memory_id: about("A vector store that is to have it.", Type.Optional(idOf("memory"))),
  scope_id: about("The user or the session that it belongs to, if the store is scoped to one.", Type.Optional(ScopeId)),
  chunking: about(
    "How the text is split into chunks.",
    Type.Optional(
      named(
        "ChunkingInParts",
        Type.Partial(
          Type.Object({
            max_chunk_size_tokens: about("How many tokens a chunk has at most.", Type.Integer()),
            chunk_overlap_tokens: about("How many tokens of a chunk the next one repeats.", Type.Integer()),
          }),
        ),
      ),
    ),
  ),
  encoding: about(
    "The encoding of the text, such as `shift_jis`, if the file does not declare it. Default: it is detected.",
    Type.Optional(Type.String()),
  ),
  include_hidden: about(
    "True to read hidden text, sheets, rows, columns and slides as well, and deletions of tracked changes. Default: false.",
    Type.Optional(Type.Boolean()),
  ),
  metadata: about("Up to 16 key-value pairs of your own.", Type.Optional(Type.Record(Type.String(), Type.String()))),
  expires_in_seconds: about(
    "After how many seconds the file is deleted. Default: never.",
    Type.Optional(Type.Integer({ minimum: 1 })),
  ),
});

export const fileFilters = {
  purpose: about("Only files with this purpose.", oneOf(filePurposes)),
  status: about("Only items with this status.", oneOf(fileStatuses)),
};
