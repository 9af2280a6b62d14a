import { type Static, Type } from "@sinclair/typebox";
import { filePurposes, fileStatuses, uploadPurposes } from "../../domain/api-types/enums.ts";
import { Chunking, idOf, Metadata, ScopeId } from "../../http/schemas.ts";
import { closedObject, named, oneOf } from "../../lib/schema.ts";

const tenYears_seconds = 315_360_000;

/** JSON body of an upload. In multipart uploads `filename` is part of the part `file`. */
export const CreateFile = closedObject({
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

/** The same as a multipart form. Limits of its fields are checked by `CreateFile`. */
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
