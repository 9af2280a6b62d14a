import { expect, test } from "bun:test";
import { untilAborted } from "./until-aborted.ts";

/** A signal that knows how many listen to it. */
function counted() {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  return { controller, signal, listeners: () => listeners };
}

test("the first of the signals is heard, and one that was aborted before at once", () => {
  const [one, other] = [counted(), counted()];
  let heard = 0;
  untilAborted([one.signal, other.signal], () => heard++);
  other.controller.abort();
  expect(heard).toBe(1);
  untilAborted([one.signal, other.signal], () => heard++);
  expect(heard).toBe(2);
});

test("nothing stays with a signal that goes on", () => {
  const long = counted();
  let heard = 0;
  for (let n = 0; n < 3; n++) untilAborted([long.signal, counted().signal], () => heard++)();
  expect(long.listeners()).toBe(0);
  long.controller.abort();
  expect(heard).toBe(0);
});
