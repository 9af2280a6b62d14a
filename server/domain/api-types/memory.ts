import { type Static, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { memoryKindNames, memoryScopes } from "../agent-snapshot.ts";
import { entryStatuses } from "./enums.ts";
import { CreatedAt, ExpiresAt, MemoryId, ModelName, Name, objectOf, UpdatedAt } from "./fields.ts";
import { CodedError, ErrorOrNull, envelope, listOf, resource } from "./schema.ts";

export const Memory = resource("Memory", "memory", {
  name: Name,
  kind: t.about(
    "`vector`: texts and files, found by meaning and words. `kv`: values under keys.",
    t.oneOf(memoryKindNames),
  ),
  scope: t.about("Who shares the contents: the project, each user or each session.", t.oneOf(memoryScopes)),
  embedding: t.about(
    "The model that embeds text; null for a store of keys.",
    t.orNull(t.object({ model: ModelName, dimensions: t.about("How many dimensions a vector has.", t.integer) })),
  ),
  ttl_seconds: t.about("How many seconds contents are kept; null: indefinitely.", t.orNull(t.integer)),
  entries: t.about("How many entries a vector store has; null for one of keys.", t.orNull(t.integer)),
  keys: t.about("How many keys a key store has; null for one of vectors.", t.orNull(t.integer)),
  indexing: t.about(
    "Progress of embedding the store again; null when it is not.",
    t.orNull(
      t.object({
        processed: t.about("How many chunks are embedded by now.", t.integer),
        total: t.about("How many chunks are to be embedded.", t.integer),
        model: t.about("The model that makes the new vectors.", t.text),
        dimensions: t.about("How many dimensions a vector has.", t.integer),
        error: ErrorOrNull,
      }),
    ),
  ),
  updated_at: UpdatedAt,
});
export type Memory = Static<typeof Memory>;

export const MemoryEntry = resource(
  "MemoryEntry",
  "memory_entry",
  {
    memory_id: MemoryId,
    status: t.about(
      "`processing` until searches find it, then `ready`; `failed`: see `error`.",
      t.oneOf(entryStatuses),
    ),
    error: t.about("Why it cannot be found; null where it can.", t.orNull(CodedError)),
    text: t.about("What was stored as text; null where a file was.", t.orNull(t.text)),
    file_id: t.about("Id of the file that it is of: `file_…`; null for a text.", t.orNull(t.text)),
    filename: t.about("What that file is called, for a citation; null for a text.", t.orNull(t.text)),
    scope_id: t.about(
      "The user or the session that it belongs to; null in a store of the whole project.",
      t.orNull(t.text),
    ),
    chunks: t.about("How many chunks the text has.", t.integer),
    processed: t.about("How many chunks are embedded by now.", t.integer),
    total: t.about("How many chunks there are; null while that is not known.", t.orNull(t.integer)),
    expires_at: ExpiresAt,
    updated_at: UpdatedAt,
  },
  t.about("Pairs by which searches may filter.", t.map(Type.Union([t.text, t.number, t.boolean]))),
);
export type MemoryEntry = Static<typeof MemoryEntry>;

export const MemoryMatch = t.named(
  "MemoryMatch",
  t.object({
    id: t.about("The entry of the store that has the passage: `ment_…`.", t.text),
    object: objectOf("memory_match"),
    text: t.about("The passage that was found.", t.text),
    score: t.about("How well it fits the query, from 0 to 1; the best has the highest.", t.number),
    score_parts: t.about(
      "What the score was computed from.",
      t.named(
        "MemoryScores",
        t.object({
          vector: t.about("How close the meaning is; null if it was not compared.", t.orNull(t.number)),
          keyword: t.about("How well the words match; null if they were not compared.", t.orNull(t.number)),
        }),
      ),
    ),
    file_id: t.about("Id of the file that it is of: `file_…`; null for a text.", t.orNull(t.text)),
    filename: t.about("What that file is called, for a citation; null for a text.", t.orNull(t.text)),
    chunk_index: t.about("The number of the chunk, from 0.", t.integer),
    page: t.about("The page of the document; null where it has none.", t.orNull(t.integer)),
    heading: t.about("The heading above the text; null where there is none.", t.orNull(t.text)),
    metadata: t.about("The pairs that the entry was given, by which `filter` chose it.", t.anyObject),
    context: t.about("The passage with its `neighbors`, as one text.", t.optional(t.text)),
  }),
);

/** Search results. Ranking fields are present if requested; `degraded_error` if only keywords were searched. */
export const MemoryMatches = t.named(
  "MemoryMatchList",
  t.object({
    ...listOf(MemoryMatch).properties,
    reranked: t.about("Whether a model reranked the results.", t.optional(t.boolean)),
    rerank_error: t.about("Why the results were not reranked; null if they were.", t.optional(t.orNull(CodedError))),
    degraded: t.about("Whether only keywords were searched, because the query could not be embedded.", t.boolean),
    degraded_error: t.about("Why only keywords were searched.", t.optional(CodedError)),
  }),
);
export type MemoryMatch = Static<typeof MemoryMatch>;
export type MemoryMatches = Static<typeof MemoryMatches>;

const place = {
  object: objectOf("memory_key"),
  key: t.about("The name under which the value is kept, unique in its store and scope.", t.text),
  memory_id: MemoryId,
  scope_id: t.about(
    "The user or the session that it belongs to; null in a store of the whole project.",
    t.orNull(t.text),
  ),
};

export const MemoryKey = t.named(
  "MemoryKey",
  t.object({
    ...place,
    value: t.about("What is kept under the key: any JSON.", t.anything),
    version: t.about("Its version, from 1, for `If-Match`.", t.integer),
    expires_at: ExpiresAt,
    created_at: CreatedAt,
    updated_at: UpdatedAt,
    ...envelope,
  }),
);
export type MemoryKey = Static<typeof MemoryKey>;

export const DeletedKey = t.named(
  "DeletedKey",
  t.object({ ...place, deleted: t.about("Always true.", t.word(true)), ...envelope }),
);
