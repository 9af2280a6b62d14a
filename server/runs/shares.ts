const sharesMax = 4;

/** Parts suspects into few groups: the one that fails is parted again, until it has one member. */
export function inShares<T>(suspects: readonly T[]): T[][] {
  const length = Math.ceil(suspects.length / sharesMax);
  return Array.from({ length: Math.min(sharesMax, suspects.length) }, (_, index) =>
    suspects.slice(index * length, (index + 1) * length),
  ).filter((share) => share.length > 0);
}
