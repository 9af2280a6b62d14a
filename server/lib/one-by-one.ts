/** Lets work of one kind, by its key, be done one after the other; work of different keys goes side by side. */
export function createOneByOne(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
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
