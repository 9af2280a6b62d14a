import { type Static, Type } from "@sinclair/typebox";
import { limits } from "../core/limits.ts";
import { Chunking, idOf, Metadata } from "../http/schemas.ts";
import { filePurposes, fileStatuses, uploadPurposes } from "../wire/names.ts";
import { oneOf } from "../wire/schema.ts";

const tenYears_seconds = 315_360_000;

/** Of an upload in parts, `filename` stands at the part `file`, which is the content. */
export const CreateFile = Type.Object(
  {
    filename: Type.String({ minLength: 1, maxLength: 4096 }),
    purpose: oneOf(uploadPurposes),
    content_base64: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
    memory_id: Type.Optional(idOf("memory")),
    scope_id: Type.Optional(Type.String({ minLength: 1, maxLength: limits.scope_id_length })),
    chunking: Type.Optional(Chunking),
    metadata: Type.Optional(Metadata),
    expires_in_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: tenYears_seconds })),
  },
  { additionalProperties: false },
);
export type CreateFile = Static<typeof CreateFile>;

export const NoBody = Type.Object({}, { additionalProperties: false });

export const fileFilters = { purpose: filePurposes, status: fileStatuses };
