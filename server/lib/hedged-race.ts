/**
 * Returns the first success. Starts the next attempt when the previous one fails or exceeds `patience_ms`, so that a
 * hanging attempt blocks no other. Throws the error of the last attempt to fail.
 */
export function hedgedRace<T>(works: readonly (() => Promise<T>)[], patience_ms: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let [begun, failed, isOver] = [0, 0, false];
  let timer: Timer | undefined;

  function begin(): void {
    clearTimeout(timer);
    const work = isOver ? undefined : works[begun++];
    if (!work) return;
    if (begun < works.length) timer = setTimeout(begin, patience_ms);
    work().then(
      (value) => {
        isOver = true;
        clearTimeout(timer);
        resolve(value);
      },
      (error) => {
        if (++failed === works.length) reject(error);
        else begin();
      },
    );
  }

  begin();
  return promise;
}
