const perMember = 16;

/** About how many bytes a value of JSON takes in memory. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") return perMember + value.length;
  if (typeof value !== "object" || value === null) return perMember;
  let weight = perMember;
  for (const member of Object.values(value)) weight += weightOf(member);
  return weight;
}
