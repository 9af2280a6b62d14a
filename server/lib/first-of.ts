/**
 * What the first of these works comes to that succeeds. Each begins once one before it has failed, or has taken so long:
 * one that never ends keeps none from beginning. Throws what the last one to fail has thrown.
 */
export function firstOf<T>(works: readonly (() => Promise<T>)[], patience_ms: number): Promise<T> {
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
