import { type Static, Type } from "@sinclair/typebox";
import { open } from "../../../lib/schema.ts";
import { given } from "../chat-schema.ts";

// Request bodies for vector stores. The API checks its own limits.

const Attributes = Type.Record(Type.String(), Type.Unknown());

const Sizes = open({ max_chunk_size_tokens: Type.Integer(), chunk_overlap_tokens: Type.Integer() });
const Chunking = open({ type: Type.String(), static: given(Sizes) });
export type Chunking = Static<typeof Chunking>;

/** Each file takes a request of its own. */
const filesMax = 100;
const FileIds = Type.Array(Type.String(), { minItems: 1, maxItems: filesMax });

const inStore = {
  attributes: given(Attributes),
  chunking_strategy: given(Chunking),
  /** Scope of the store's entries, if it has scopes: a field of ours. */
  scope_id: given(Type.String()),
};

const described = { name: given(Type.String()), metadata: given(Attributes), expires_after: given(Type.Unknown()) };

export const UpdateStore = open(described);

export const CreateStore = open({
  ...described,
  file_ids: given(Type.Array(Type.String(), { maxItems: filesMax })),
  chunking_strategy: inStore.chunking_strategy,
});

export const AddFile = open({ file_id: Type.String(), ...inStore });
export type AddFile = Static<typeof AddFile>;

const BatchFile = open({ file_id: Type.String(), attributes: given(Attributes), chunking_strategy: given(Chunking) });
export const AddFiles = open({
  file_ids: given(FileIds),
  files: given(Type.Array(BatchFile, { minItems: 1, maxItems: filesMax })),
  ...inStore,
});

const queriesMax = 10;

export const SearchStore = open({
  query: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: queriesMax })]),
  max_num_results: given(Type.Integer()),
  filters: given(Type.Unknown()),
  ranking_options: given(open({ score_threshold: given(Type.Number()) })),
  scope_id: inStore.scope_id,
});
export type SearchStore = Static<typeof SearchStore>;
