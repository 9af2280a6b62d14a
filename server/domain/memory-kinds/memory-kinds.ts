import type { MemoryKindName } from "../agent-snapshot.ts";
import { kv } from "./kv.ts";
import type { MemoryKind } from "./memory-kind.ts";
import { vector } from "./vector.ts";

/** All kinds of memory stores. */
export const memoryKinds: Record<MemoryKindName, MemoryKind> = { vector, kv };
