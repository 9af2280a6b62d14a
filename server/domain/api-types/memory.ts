import { type Static, Type } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { memoryKindNames, memoryScopes } from "../agent-snapshot.ts";
import { entryStatuses } from "./enums.ts";
import { CodedError, envelope, listOf, resource } from "./schema.ts";

export const Memory = resource("Memory", "memory", {
  name: t.text,
  kind: t.oneOf(memoryKindNames),
  scope: t.oneOf(memoryScopes),
  embedding: t.orNull(t.object({ model: t.text, dimensions: t.integer })),
  ttl_seconds: t.orNull(t.integer),
  entries: t.orNull(t.integer),
  keys: t.orNull(t.integer),
  indexing: t.orNull(
    t.object({
      processed: t.integer,
      total: t.integer,
      model: t.text,
      dimensions: t.integer,
      error: t.orNull(CodedError),
    }),
  ),
  updated_at: t.time,
});
export type Memory = Static<typeof Memory>;

export const MemoryEntry = resource(
  "MemoryEntry",
  "memory_entry",
  {
    memory_id: t.text,
    status: t.oneOf(entryStatuses),
    error: t.orNull(CodedError),
    text: t.orNull(t.text),
    file_id: t.orNull(t.text),
    filename: t.orNull(t.text),
    scope_id: t.orNull(t.text),
    chunks: t.integer,
    processed: t.integer,
    total: t.orNull(t.integer),
    expires_at: t.orNull(t.time),
    updated_at: t.time,
  },
  Type.Union([t.text, t.number, t.boolean]),
);
export type MemoryEntry = Static<typeof MemoryEntry>;

export const MemoryMatch = t.named(
  "MemoryMatch",
  t.object({
    id: t.text,
    object: t.word("memory_match"),
    text: t.text,
    score: t.number,
    score_parts: t.named("MemoryScores", t.object({ vector: t.orNull(t.number), keyword: t.orNull(t.number) })),
    file_id: t.orNull(t.text),
    filename: t.orNull(t.text),
    chunk_index: t.integer,
    page: t.orNull(t.integer),
    heading: t.orNull(t.text),
    metadata: t.anyObject,
    context: t.optional(t.text),
  }),
);

/** Search results. Ranking fields are present if requested; `degraded_error` if only keywords were searched. */
export const MemoryMatches = t.named(
  "MemoryMatchList",
  t.object({
    ...listOf(MemoryMatch).properties,
    reranked: t.optional(t.boolean),
    rerank_error: t.optional(t.orNull(CodedError)),
    degraded: t.boolean,
    degraded_error: t.optional(CodedError),
  }),
);
export type MemoryMatch = Static<typeof MemoryMatch>;
export type MemoryMatches = Static<typeof MemoryMatches>;

const place = { object: t.word("memory_key"), key: t.text, memory_id: t.text, scope_id: t.orNull(t.text) };

export const MemoryKey = t.named(
  "MemoryKey",
  t.object({
    ...place,
    value: t.anything,
    version: t.integer,
    expires_at: t.orNull(t.time),
    created_at: t.time,
    updated_at: t.time,
    ...envelope,
  }),
);
export type MemoryKey = Static<typeof MemoryKey>;

export const DeletedKey = t.named("DeletedKey", t.object({ ...place, deleted: t.word(true), ...envelope }));
