/** A place in a price table where a model may be listed. */
export interface Candidate {
  provider: string;
  name: string;
  /** The name is not sure to mean this model. */
  is_guess?: true;
}

const geographies = /^(us-gov|us|eu|apac|au|jp|in|ca|global)\./;
const bedrockVersion = /(-v?\d+)?:\d+$|-v\d+$/;

/** Returns where a provider's model may be listed under other names, the surest first; empty if nowhere. */
export function candidatesOf(provider: string, name: string): Candidate[] {
  const plain = name.trim().toLowerCase();
  switch (provider) {
    case "google":
      return [{ provider, name: plain.replace(/^models\//, "") }];
    case "vertex":
      return vertexCandidates(plain.replace(/^.*\/models\//, ""));
    case "bedrock":
      return bedrockCandidates(plain);
    case "azure":
      // The operator chooses the name of a deployment. One that is called like a model probably serves it.
      return [provider, "openai"].map((each) => ({ provider: each, name: plain, is_guess: true }));
    case "fireworks":
      return fireworksCandidates(plain);
    case "openai":
      return [{ provider, name: plain.startsWith("ft:") ? baseOfFineTuned(plain) : plain }];
    default:
      return [{ provider, name: plain }];
  }
}

/** Vertex serves Google's models at Google's prices, and Anthropic's under names such as `claude-opus-4-5@20251101`. */
function vertexCandidates(name: string): Candidate[] {
  const plain = name.replace(/@(default|latest)$/, "");
  return ["vertex", "google", "anthropic"].map((provider) => ({ provider, name: plain }));
}

/** Returns nothing for an inference profile that a user made: its name does not tell the model. */
function bedrockCandidates(name: string): Candidate[] {
  if (name.includes("application-inference-profile/") || name.includes("provisioned-model/")) return [];
  const id = name.replace(/^.*\//, "").replace(bedrockVersion, "");
  const base = id.replace(geographies, "");
  const isGlobal = id.startsWith("global.");
  // Global profiles cost less than those of a region. A model without a price of its own for them has one price.
  const names = isGlobal ? [`global.${base}`, base] : [base];
  return names.map((each) => ({ provider: "bedrock", name: each }));
}

/** A deployment of one's own (`#accounts/…`) costs by the hour, and another account's model is not listed. */
function fireworksCandidates(name: string): Candidate[] {
  const plain = name.replace(/^accounts\/fireworks\/(models|routers)\//, "");
  return plain.includes("#") || plain.startsWith("accounts/") ? [] : [{ provider: "fireworks", name: plain }];
}

/** `ft:gpt-4o-mini-2024-07-18:team::id` has the price of `ft:gpt-4o-mini`. */
function baseOfFineTuned(name: string): string {
  const base = name.split(":")[1] ?? "";
  return `ft:${withoutSnapshot(base) ?? base}`;
}

const snapshot = /(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2})|-\d{3,4}|-latest|-(?:preview|exp)(?:-\d{2}-\d{2,4})?)$/;

/** Returns the name without the mark of a snapshot (`-20251101`, `@20251101`, `-001`, `-latest`), or null without one. */
export const withoutSnapshot = (name: string): string | null =>
  snapshot.test(name) ? name.replace(snapshot, "") : null;

const vendors: Record<string, string> = { bedrock: ".", openrouter: "/", together: "/" };

/** Splits `anthropic/claude-opus-5` and `anthropic.claude-opus-5` into the vendor and the name. */
export function vendorOf(provider: string, name: string): { vendor: string; name: string } {
  const separator = vendors[provider];
  const plain = provider === "bedrock" ? name.replace(geographies, "") : name;
  const end = separator === undefined ? -1 : plain.indexOf(separator);
  return { vendor: plain.slice(0, Math.max(0, end)), name: plain.slice(end + 1) };
}
