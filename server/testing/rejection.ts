/**
 * Why a promise is rejected. In place of `await expect(promise).rejects` where a server works in this process: that runs
 * the event loop within itself (seen in Bun 1.4.5), and some callbacks of `setImmediate` are never called then.
 */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([promise]);
  if (result.status === "fulfilled") throw new Error("It was not rejected.");
  return result.reason;
}
