import { type Static, Type } from "@sinclair/typebox";
import { memoryKindNames, memoryScopes } from "../../domain/agent-snapshot.ts";
import { entryStatuses, searchModes } from "../../domain/api-types/enums.ts";
import { limits } from "../../domain/limits.ts";
import {
  Chunking,
  GivenName,
  idOf,
  JsonObject,
  Metadata,
  passageChoices,
  RerankInput,
  ScopeId,
  ScopeIdFilter,
} from "../../http/schemas.ts";
import { about, closedObject, named, oneOf, orNull, partial, partly } from "../../lib/schema.ts";

const tenYears_seconds = 315_360_000;
const Ttl = Type.Integer({ minimum: 1, maximum: tenYears_seconds });

/** Embedding of a store. If `dimensions` is absent, an external model is called to find out. */
const Embedding = named(
  "EmbeddingInput",
  closedObject({
    model: about(
      "`builtin/all-minilm-l6-v2` or `builtin/use-lite-512`, or a model of a connection, such as `openai/text-embedding-3-small`.",
      Type.String({ minLength: 1, maxLength: 300 }),
    ),
    dimensions: about(
      "How many dimensions a vector has. Default: the model's.",
      Type.Optional(Type.Integer({ minimum: 1, maximum: limits.embedding_dimensions })),
    ),
  }),
);
export type Embedding = Static<typeof Embedding>;

export const CreateMemory = closedObject({
  name: GivenName,
  kind: about(
    "`vector`: texts and files, found by meaning and words. `kv`: values under keys.",
    oneOf(memoryKindNames),
  ),
  scope: about(
    "Who shares the contents: the project, each user or each session. It never changes.",
    Type.Optional(oneOf(memoryScopes)),
  ),
  embedding: about(
    "The model that embeds text; null for a store of keys. Default: `builtin/all-minilm-l6-v2` where the executable has it, else `builtin/use-lite-512`, for stores of texts.",
    Type.Optional(orNull(Embedding)),
  ),
  ttl_seconds: about(
    "How many seconds contents are kept, unless an entry sets its own; null: indefinitely.",
    Type.Optional(orNull(Ttl)),
  ),
  metadata: Type.Optional(Metadata),
});
export type CreateMemory = Static<typeof CreateMemory>;

export const UpdateMemory = partial({
  name: GivenName,
  embedding: about("Another model to embed texts: all entries are embedded again.", Embedding),
  ttl_seconds: about("How many seconds contents are kept; null: indefinitely.", orNull(Ttl)),
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
  text: about("What to store and find; or give a `file_id`.", Type.String({ minLength: 1 })),
  file_id: about("A file whose text is stored and found; or give a `text`.", idOf("file")),
  metadata: about("Pairs by which searches may filter.", EntryMetadata),
  scope_id: about("The user or the session that it belongs to.", ScopeId),
  chunking: about("How the text is split into chunks.", Chunking),
  ttl_seconds: about("How many seconds the entry is kept.", Ttl),
});
export type CreateEntry = Static<typeof CreateEntry>;

/** Absent fields stay; metadata are replaced as a whole. */
export const UpdateEntry = partial({
  text: about("The new text; not of an entry that is a file.", Type.String({ minLength: 1 })),
  metadata: about("Pairs by which searches may filter.", EntryMetadata),
});
export type UpdateEntry = Static<typeof UpdateEntry>;

export const SearchMemory = partly(
  { query: about("What to look for, as a question or in words.", Type.String({ minLength: 1 })) },
  {
    top_k: about("How many passages are found at most.", Type.Integer({ minimum: 1, maximum: limits.search_top_k })),
    mode: about("By meaning and keywords, by meaning only, or by keywords only.", oneOf(searchModes)),
    filter: about(
      "Compares the metadata of entries, with up to 5 levels and 50 comparisons; null: all entries.",
      orNull(JsonObject),
    ),
    score_threshold: about(
      "Results with a lower score are left out; null: none are.",
      orNull(Type.Number({ minimum: 0, maximum: 1 })),
    ),
    scope_id: about("The user or the session that it belongs to.", ScopeIdFilter),
    rerank: about("A model that reranks the results; absent or null: none.", orNull(RerankInput)),
    ...passageChoices,
  },
);
export type SearchMemory = Static<typeof SearchMemory>;

export const PutKey = closedObject({
  value: about("What to keep under the key: any JSON.", Type.Unknown()),
  ttl_seconds: about("How many seconds the value is kept.", Type.Optional(Ttl)),
});
export type PutKey = Static<typeof PutKey>;

export const keyFilters = {
  scope_id: about("The user or the session that it belongs to, if the store is scoped to one.", ScopeIdFilter),
  prefix: about("Only keys whose names begin with this.", Type.String({ minLength: 1, maxLength: limits.key_length })),
};

export const entryFilters = {
  file_id: about("Only items of this file.", idOf("file")),
  scope_id: about("The user or the session that it belongs to, if the store is scoped to one.", ScopeIdFilter),
  status: about("Only items with this status.", oneOf(entryStatuses)),
};
