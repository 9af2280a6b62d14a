const sharesMax = 4;

/** Splits suspects into a few groups; the group that crashes is split again until it has one member. */
export function bisect<T>(suspects: readonly T[]): T[][] {
  const length = Math.ceil(suspects.length / sharesMax);
  return Array.from({ length: Math.min(sharesMax, suspects.length) }, (_, index) =>
    suspects.slice(index * length, (index + 1) * length),
  ).filter((share) => share.length > 0);
}
