import { limits } from "../limits.ts";
import { type MemoryKind, textOf } from "./memory-kind.ts";

const key = textOf(limits.key_length, "The key, such as notes or user.name.");

/** Key-value stores. */
export const kv: MemoryKind = {
  isSearched: false,
  refusal: 'This store holds keys (kind "kv"). It has no entries and no search.',
  tools: [
    {
      operation: "kv_get",
      writes: false,
      description: "Reads the value that was kept under a key.",
      properties: { key },
      required: ["key"],
    },
    {
      operation: "kv_set",
      writes: true,
      description: "Keeps a value under a key, in place of what was there before.",
      properties: { key, value: { description: "Any JSON value." } },
      required: ["key", "value"],
    },
  ],
};
