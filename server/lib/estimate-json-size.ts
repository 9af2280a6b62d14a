const perMember = 16;

/** Estimates the bytes that a JSON value takes in memory. */
export function estimateJsonSize(value: unknown): number {
  if (typeof value === "string") return perMember + value.length;
  if (typeof value !== "object" || value === null) return perMember;
  let weight = perMember;
  for (const member of Object.values(value)) weight += estimateJsonSize(member);
  return weight;
}
