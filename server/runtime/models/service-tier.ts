import { requestedTier, specialTier } from "../../domain/service-tier.ts";
import type { ModelRequest, ModelUsage } from "./model.ts";

/**
 * Returns the tier in which a provider says that it answered. The standard one is recorded only if another was asked
 * for: the provider was full then, and charges less.
 */
export function servedTier(said: unknown, extras: ModelRequest["extras"]): Pick<ModelUsage, "service_tier"> {
  if (typeof said !== "string" || said === "") return {};
  const asked = extras
    ? requestedTier({ extra_body: extras.body, provider_options: extras.options, headers: extras.headers })
    : null;
  const special = specialTier(said);
  if (special === null && asked === null) return {};
  return { service_tier: (special ?? said.toLowerCase()).slice(0, lengthMax) };
}

const lengthMax = 64;
