import type { MemoryKindName } from "../agent-snapshot.ts";
import { kv } from "./kv.ts";
import type { MemoryKind } from "./memory-kind.ts";
import { vector } from "./vector.ts";

/** What each kind of memory store is. */
export const memoryKinds: Record<MemoryKindName, MemoryKind> = { vector, kv };
