/** Checks of a connection's test, in their order, with their names for people. */
export const checkWords = {
  token: "Access token",
  reachable: "Reachable",
  key: "Key accepted",
  answer: "Model answers",
  stream: "Streaming",
  tools: "Tools",
  reasoning: "Reasoning",
  structured_output: "Structured output",
  prompt_caching: "Prompt caching",
  images: "Images",
};
export type CheckName = keyof typeof checkWords;
export const checkNames = Object.keys(checkWords) as [CheckName, ...CheckName[]];

/** Checks that send requests of their own. The others judge the first request. */
export const featureChecks = ["tools", "reasoning", "structured_output", "prompt_caching", "images"] as const;
export type FeatureCheck = (typeof featureChecks)[number];

/** `unknown`: the server accepted the request, but its answer does not show the feature. */
export const checkResults = ["yes", "no", "unknown", "skipped"] as const;
