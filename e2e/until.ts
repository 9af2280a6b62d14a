// Bounds only what hangs: a little less than a test may take, which then says what it waited for.
export const patience_ms = 55_000;

/** Waits until something holds of which no signal tells; throws, and says of what, when it does not come to that. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + patience_ms; !(await holds()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error(`Waited in vain: ${holds}`);
}

/** What a promise comes to; throws, and says of what, when it does not come to anything. */
export async function inTime<T>(promise: Promise<T>, hope: string, most_ms = patience_ms): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Waited in vain: ${hope}`)), most_ms);
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
