import type { Guardrail } from "../../domain/agent-snapshot.ts";
import { deleteOldest } from "../../lib/collections.ts";
import { type CompiledGuardrails, compileGuardrails } from "./compile.ts";

const compiledMax = 16;
const compiledCache = new Map<string, CompiledGuardrails>();

/** Caches compiled guardrails, because agents are read again for each run. */
export function compileCached(list: readonly Guardrail[]): CompiledGuardrails {
  if (list.length === 0) return [];
  const text = JSON.stringify(list);
  const ready = compiledCache.get(text) ?? compileGuardrails(list);
  compiledCache.delete(text);
  compiledCache.set(text, ready);
  if (compiledCache.size > compiledMax) deleteOldest(compiledCache);
  return ready;
}
