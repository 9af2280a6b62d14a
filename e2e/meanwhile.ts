/** Makes one request after another for as long as the work goes on: what came of it, and how many had a response before. */
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
