import { spyOn } from "bun:test";
import { endOfSlice } from "../lib/cooperative-yield.ts";

/**
 * Does some work as on a slow machine: the clock advances some milliseconds at each read. Returns the number of turns
 * that the event loop gave to other work meanwhile. Waits for the end of earlier long work, whose slice would be one
 * turn of this work.
 */
export async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ turns: number; result: Result }> {
  let [late_ms, turns, isOver] = [0, 0, false];
  const now = performance.now.bind(performance);
  const later = () => {
    late_ms += 5;
    return now() + late_ms;
  };
  await endOfSlice();
  using _ = spyOn(performance, "now").mockImplementation(later);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const others = (async () => {
    for (; !isOver; turns++) await turn();
  })();
  const result = await work();
  isOver = true;
  await others;
  await turn(); // Let work that began by this clock end by it.
  return { turns, result };
}
