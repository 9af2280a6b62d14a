/** Makes one request after another until the work is done. Returns its result and the number of responses before. */
export async function meanwhile<T>(work: Promise<T>, ask: () => Promise<unknown>) {
  let over = false;
  const end = () => {
    over = true;
  };
  work.then(end, end);
  let responses = 0;
  for (; !over; await Bun.sleep(1)) {
    await ask();
    if (!over) responses++;
  }
  return { result: await work, responses };
}
