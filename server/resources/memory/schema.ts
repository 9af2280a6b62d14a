import { type Static, Type } from "@sinclair/typebox";
import { memoryKindNames, memoryScopes } from "../../domain/agent-snapshot.ts";
import { entryStatuses, searchModes } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import {
  Chunking,
  idOf,
  JsonObject,
  Metadata,
  passageChoices,
  RerankInput,
  ScopeId,
  ScopeIdFilter,
} from "../../http/schemas.ts";
import { closedObject, named, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

const tenYears_seconds = 315_360_000;
const Ttl = Type.Integer({ minimum: 1, maximum: tenYears_seconds });

/** Embedding of a store. If `dimensions` is absent, an external model is called to find out. */
const Embedding = named(
  "EmbeddingInput",
  closedObject({
    model: Type.String({ minLength: 1, maxLength: 300 }),
    dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.embedding_dimensions })),
  }),
);
export type Embedding = Static<typeof Embedding>;

export const CreateMemory = closedObject({
  name: Type.String({ minLength: 1, maxLength: limits.name_length }),
  kind: oneOf(memoryKindNames),
  scope: Type.Optional(oneOf(memoryScopes)),
  embedding: Type.Optional(orNull(Embedding)),
  ttl_seconds: Type.Optional(orNull(Ttl)),
  metadata: Type.Optional(Metadata),
});
export type CreateMemory = Static<typeof CreateMemory>;

export const UpdateMemory = partial({
  name: Type.String({ minLength: 1, maxLength: limits.name_length }),
  embedding: Embedding,
  ttl_seconds: orNull(Ttl),
  metadata: Metadata,
});
export type UpdateMemory = Static<typeof UpdateMemory>;

/** Metadata of entries may have numbers and booleans, which filters compare as such. */
const EntryMetadata = named(
  "EntryMetadata",
  Type.Record(
    Type.String({ pattern: "^[\\s\\S]{1,64}$" }),
    Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()]),
    { maxProperties: 16, additionalProperties: false },
  ),
);

/** Requires either text or file_id. */
export const CreateEntry = partial({
  text: Type.String({ minLength: 1 }),
  file_id: idOf("file"),
  metadata: EntryMetadata,
  scope_id: ScopeId,
  chunking: Chunking,
  ttl_seconds: Ttl,
});
export type CreateEntry = Static<typeof CreateEntry>;

/** Absent fields stay; metadata are replaced as a whole. */
export const UpdateEntry = partial({ text: Type.String({ minLength: 1 }), metadata: EntryMetadata });
export type UpdateEntry = Static<typeof UpdateEntry>;

export const SearchMemory = partly(
  { query: Type.String({ minLength: 1 }) },
  {
    top_k: Type.Integer({ minimum: 1, maximum: limits.search_top_k }),
    mode: oneOf(searchModes),
    filter: orNull(JsonObject),
    score_threshold: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    scope_id: ScopeIdFilter,
    rerank: orNull(RerankInput),
    ...passageChoices,
  },
);
export type SearchMemory = Static<typeof SearchMemory>;

export const PutKey = closedObject({ value: Type.Unknown(), ttl_seconds: Type.Optional(Ttl) });
export type PutKey = Static<typeof PutKey>;

export const keyFilters = {
  scope_id: ScopeIdFilter,
  prefix: Type.String({ minLength: 1, maxLength: limits.key_length }),
};

export const entryFilters = {
  file_id: idOf("file"),
  scope_id: ScopeIdFilter,
  status: oneOf(entryStatuses),
};
