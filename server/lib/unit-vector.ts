/** Returns the vector scaled to length 1, or null if a number is not finite or all are zero. */
export function unitVector(values: ArrayLike<number>): Float32Array | null {
  let squares = 0;
  for (let index = 0; index < values.length; index++) squares += (values[index] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  if (!Number.isFinite(length) || length === 0) return null;
  return Float32Array.from(values, (value) => value / length);
}

/** Adds a vector times `weight` to `sum`. */
export function addScaled(sum: Float32Array, vector: Float32Array, weight: number): void {
  for (let index = 0; index < sum.length; index++) sum[index] = (sum[index] ?? 0) + (vector[index] ?? 0) * weight;
}
