import { expect, test } from "bun:test";
import type { Order } from "../worker/messages.ts";
import { inTurn, type ThreadFactory } from "./threads.ts";

test("a thread is asked for a sign of life also while its orders have to wait", () => {
  const sent: Order["do"][] = [];
  const make: ThreadFactory = () => ({ separate: true, send: (order) => sent.push(order.do), end() {} });
  const held: (() => void)[] = [];
  const ordering = (send: (order: Order) => void) => (order: Order) => void held.push(() => send(order));
  const thread = inTurn(make, ordering)(
    () => {},
    () => {},
  );
  thread.send({ do: "abort", drive: 1 });
  thread.send({ do: "ping" });
  expect(sent).toEqual(["ping"]);
  for (const leave of held) leave();
  expect(sent).toEqual(["ping", "abort"]);
});
