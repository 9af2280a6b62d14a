import { expect, test } from "bun:test";
import { onAbort } from "./on-abort.ts";

/** A signal that counts its listeners. */
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

test("the first signal that aborts calls back, and one already aborted does so at once", () => {
  const [one, other] = [counted(), counted()];
  let heard = 0;
  onAbort([one.signal, other.signal], () => heard++);
  other.controller.abort();
  expect(heard).toBe(1);
  onAbort([one.signal, other.signal], () => heard++);
  expect(heard).toBe(2);
});

test("no listener stays at a long-lived signal", () => {
  const long = counted();
  let heard = 0;
  for (let n = 0; n < 3; n++) onAbort([long.signal, counted().signal], () => heard++)();
  expect(long.listeners()).toBe(0);
  long.controller.abort();
  expect(heard).toBe(0);
});
