/**
 * Returns the error that a promise is rejected with. Use it instead of `await expect(promise).rejects` if a server
 * works in this process: that runs the event loop within itself (seen in Bun 1.4.5), and some `setImmediate` callbacks
 * are then never called.
 */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([promise]);
  if (result.status === "fulfilled") throw new Error("It was not rejected.");
  return result.reason;
}
