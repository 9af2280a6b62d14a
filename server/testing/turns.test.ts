import { expect, test } from "bun:test";
import { createYielder } from "../lib/cooperative-yield.ts";
import { turnsDuring } from "./turns.ts";

test("as many turns are counted right after other long work as without it", async () => {
  const work = async () => {
    const yieldTurn = createYielder();
    for (let piece = 0; piece < 5; piece++) await yieldTurn();
  };
  const { turns } = await turnsDuring(work);
  createYielder(); // Its slice is the present one.
  expect(await turnsDuring(work)).toMatchObject({ turns });
});
