// Bounds only a hang: slightly less than a test's timeout, so that the message names what it waited for.
export const patience_ms = 150_000;

/** Polls until the condition holds. On timeout throws an error that quotes it. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + patience_ms; !(await holds()); await Bun.sleep(20))
    if (performance.now() > end) throw new Error(`Waited in vain: ${holds}`);
}

/** Awaits a promise. On timeout throws an error with `hope`. */
export async function withTimeout<T>(promise: Promise<T>, hope: string, most_ms = patience_ms): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Waited in vain: ${hope}`)), most_ms);
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
