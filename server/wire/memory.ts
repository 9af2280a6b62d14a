import { type Static, Type } from "@sinclair/typebox";
import { memoryKinds, memoryScopes } from "../core/agent-snapshot.ts";
import { entryStatuses } from "./names.ts";
import {
  anyObject,
  anything,
  boolean,
  CodedError,
  envelope,
  integer,
  named,
  number,
  object,
  oneOf,
  orNull,
  resource,
  text,
  time,
  word,
} from "./schema.ts";

export const Memory = resource("Memory", "memory", {
  name: text,
  kind: oneOf(memoryKinds),
  scope: oneOf(memoryScopes),
  embedding: orNull(object({ model: text, dimensions: integer })),
  ttl_seconds: orNull(integer),
  entries: orNull(integer),
  keys: orNull(integer),
  indexing: orNull(
    object({ processed: integer, total: integer, model: text, dimensions: integer, error: orNull(CodedError) }),
  ),
  updated_at: time,
});
export type Memory = Static<typeof Memory>;

export const MemoryEntry = resource(
  "MemoryEntry",
  "memory_entry",
  {
    memory_id: text,
    status: oneOf(entryStatuses),
    error: orNull(CodedError),
    text: orNull(text),
    file_id: orNull(text),
    filename: orNull(text),
    scope_id: orNull(text),
    chunks: integer,
    processed: integer,
    total: orNull(integer),
    expires_at: orNull(time),
    updated_at: time,
  },
  Type.Union([text, number, boolean]),
);
export type MemoryEntry = Static<typeof MemoryEntry>;

export const MemoryMatch = named(
  "MemoryMatch",
  object({
    id: text,
    object: word("memory_match"),
    text,
    score: number,
    score_parts: object({ vector: orNull(number), keyword: orNull(number) }),
    file_id: orNull(text),
    filename: orNull(text),
    chunk_index: integer,
    page: orNull(integer),
    heading: orNull(text),
    metadata: anyObject,
  }),
);
export type MemoryMatch = Static<typeof MemoryMatch>;

const place = { object: word("memory_key"), key: text, memory_id: text, scope_id: orNull(text) };

export const MemoryKey = named(
  "MemoryKey",
  object({
    ...place,
    value: anything,
    version: integer,
    expires_at: orNull(time),
    created_at: time,
    updated_at: time,
    ...envelope,
  }),
);
export type MemoryKey = Static<typeof MemoryKey>;

export const DeletedKey = named("DeletedKey", object({ ...place, deleted: word(true), ...envelope }));
