import { isJsonObject, jsonText, readJson } from "../../lib/json-text.ts";
import type { MemoryPolicy, PolicyStore } from "./definition.ts";

/** Parses a policy; null if the text is not valid yet. */
export function readPolicy(text: string): MemoryPolicy | null {
  if (text.trim() === "") return {};
  const { value } = readJson(text);
  return isJsonObject(value) ? value : null;
}

/** Serializes a policy; empty text for an empty policy. */
export function policyText(policy: MemoryPolicy): string {
  const otherSettings = Object.entries(policy).filter(
    ([key, value]) => key !== "stores" || (value as unknown[]).length > 0,
  );
  return otherSettings.length === 0 ? "" : jsonText(Object.fromEntries(otherSettings));
}

/** Sets the policy's stores, keeping the settings of those it already has. */
export function pickStores(policy: MemoryPolicy, ids: readonly string[]): MemoryPolicy {
  const known = policy.stores ?? [];
  return { ...policy, stores: ids.map((id) => known.find(({ memory_id }) => memory_id === id) ?? { memory_id: id }) };
}

/** Changes the settings of one store. */
export function changeStore(policy: MemoryPolicy, id: string, change: Partial<PolicyStore>): MemoryPolicy {
  const stores = (policy.stores ?? []).map((store) => (store.memory_id === id ? { ...store, ...change } : store));
  return { ...policy, stores };
}
