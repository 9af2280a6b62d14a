/** Runs work with the same key one after the other; work with different keys runs concurrently. */
export function createKeyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lasts = new Map<string, Promise<void>>();
  return (key, work) => {
    const result = (lasts.get(key) ?? Promise.resolve()).then(work);
    const left = result.then(leave, leave);
    lasts.set(key, left);
    function leave(): void {
      if (lasts.get(key) === left) lasts.delete(key);
    }
    return result;
  };
}
