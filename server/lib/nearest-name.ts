const longest = 64;

/**
 * Returns the name that was probably meant: the same one in another notation (`agentId` for `agent_id`), or one with a
 * typing error or two. Null if none is near.
 */
export function nearestName(given: string, names: readonly string[]): string | null {
  if (given.length > longest) return null;
  const plain = plainName(given);
  const [same] = names.filter((name) => name !== given && plainName(name) === plain);
  if (same !== undefined) return same;
  // A short name has many neighbours that were not meant.
  const most = given.length <= 4 ? 1 : 2;
  const near = names
    .filter((name) => name !== given && name.length <= longest)
    .map((name) => ({ name, errors: typingErrors(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ errors }) => errors <= most)
    .sort((a, b) => a.errors - b.errors);
  return near[0]?.name ?? null;
}

const plainName = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/**
 * Returns the number of characters to add, drop, replace or swap with their neighbour, to get from one text to the
 * other: the optimal string alignment distance.
 */
function typingErrors(from: string, to: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
