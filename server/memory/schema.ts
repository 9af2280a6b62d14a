import { type Static, Type } from "@sinclair/typebox";
import { memoryKindNames, memoryScopes } from "../core/agent-snapshot.ts";
import { limits } from "../core/limits.ts";
import {
  Chunking,
  idOf,
  JsonObject,
  Metadata,
  passageChoices,
  RerankInput,
  ScopeId,
  ScopeIdFilter,
} from "../http/schemas.ts";
import { exact, named, oneOf, orNull, partial, partly } from "../lib/schema.ts";
import { entryStatuses, searchModes } from "../wire/names.ts";

const tenYears_seconds = 315_360_000;
const Ttl = Type.Integer({ minimum: 1, maximum: tenYears_seconds });

/** What makes vectors of text. Of a model elsewhere the dimensions may be left out: it is then asked. */
const Embedding = named(
  "EmbeddingInput",
  exact({
    model: Type.String({ minLength: 1, maxLength: 300 }),
    dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.embedding_dimensions })),
  }),
);
export type Embedding = Static<typeof Embedding>;

export const CreateMemory = exact({
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

/** Of entries, numbers and truth values too: a filter compares them as such. */
const EntryMetadata = named(
  "EntryMetadata",
  Type.Record(
    Type.String({ pattern: "^[\\s\\S]{1,64}$" }),
    Type.Union([Type.String({ maxLength: 512 }), Type.Number(), Type.Boolean()]),
    { maxProperties: 16, additionalProperties: false },
  ),
);

/** One of text and file_id. */
export const CreateEntry = partial({
  text: Type.String({ minLength: 1 }),
  file_id: idOf("file"),
  metadata: EntryMetadata,
  scope_id: ScopeId,
  chunking: Chunking,
  ttl_seconds: Ttl,
});
export type CreateEntry = Static<typeof CreateEntry>;

/** What is left out stays as it is. The metadata are given whole. */
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

export const PutKey = exact({ value: Type.Unknown(), ttl_seconds: Type.Optional(Ttl) });
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
