import { type Static, Type } from "@sinclair/typebox";
import { Chunking, idOf, Metadata, ScopeId } from "../http/schemas.ts";
import { exact, named, oneOf } from "../lib/schema.ts";
import { filePurposes, fileStatuses, uploadPurposes } from "../wire/names.ts";

const tenYears_seconds = 315_360_000;

/** Of an upload in parts, `filename` stands at the part `file`, which is the content. */
export const CreateFile = exact({
  filename: Type.String({ minLength: 1, maxLength: 4096 }),
  purpose: oneOf(uploadPurposes),
  content_base64: Type.Optional(Type.String()),
  text: Type.Optional(Type.String()),
  memory_id: Type.Optional(idOf("memory")),
  scope_id: Type.Optional(ScopeId),
  chunking: Type.Optional(Chunking),
  metadata: Type.Optional(Metadata),
  expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: tenYears_seconds })),
});
export type CreateFile = Static<typeof CreateFile>;

/** The same as a form: bounds of what stands in its fields are those of the whole body. */
export const CreateFileInParts = Type.Object({
  file: Type.String({ contentMediaType: "application/octet-stream" }),
  purpose: oneOf(uploadPurposes),
  memory_id: Type.Optional(idOf("memory")),
  scope_id: Type.Optional(ScopeId),
  chunking: Type.Optional(
    named(
      "ChunkingInParts",
      Type.Partial(Type.Object({ max_chunk_size_tokens: Type.Integer(), chunk_overlap_tokens: Type.Integer() })),
    ),
  ),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1 })),
});

export const fileFilters = { purpose: oneOf(filePurposes), status: oneOf(fileStatuses) };
