import { type Static, Type } from "@sinclair/typebox";
import { open } from "../../../lib/schema.ts";
import { nullable } from "../chat-schema.ts";

// Request bodies for vector stores. The API checks its own limits.

const Attributes = Type.Record(Type.String(), Type.Unknown());

const Sizes = open({ max_chunk_size_tokens: Type.Integer(), chunk_overlap_tokens: Type.Integer() });
const Chunking = open({ type: Type.String(), static: nullable(Sizes) });
export type Chunking = Static<typeof Chunking>;

/** Each file takes a request of its own. */
const filesMax = 100;
const FileIds = Type.Array(Type.String(), { minItems: 1, maxItems: filesMax });

const inStore = {
  attributes: nullable(Attributes),
  chunking_strategy: nullable(Chunking),
  /** Scope of the store's entries, if it has scopes: a field of ours. */
  scope_id: nullable(Type.String()),
};

const described = {
  name: nullable(Type.String()),
  metadata: nullable(Attributes),
  expires_after: nullable(Type.Unknown()),
};

export const UpdateStore = open(described);

export const CreateStore = open({
  ...described,
  file_ids: nullable(Type.Array(Type.String(), { maxItems: filesMax })),
  chunking_strategy: inStore.chunking_strategy,
});

export const AddFile = open({ file_id: Type.String(), ...inStore });
export type AddFile = Static<typeof AddFile>;

const BatchFile = open({
  file_id: Type.String(),
  attributes: nullable(Attributes),
  chunking_strategy: nullable(Chunking),
});
export const AddFiles = open({
  file_ids: nullable(FileIds),
  files: nullable(Type.Array(BatchFile, { minItems: 1, maxItems: filesMax })),
  ...inStore,
});

const queriesMax = 10;

export const SearchStore = open({
  query: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: queriesMax })]),
  max_num_results: nullable(Type.Integer()),
  filters: nullable(Type.Unknown()),
  ranking_options: nullable(open({ score_threshold: nullable(Type.Number()) })),
  scope_id: inStore.scope_id,
});
export type SearchStore = Static<typeof SearchStore>;
