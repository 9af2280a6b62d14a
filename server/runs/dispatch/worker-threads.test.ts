import { expect, test } from "bun:test";
import type { ToWorker } from "../../runtime/agent-loop/messages.ts";
import { type WorkerFactory, withOrdering } from "./worker-threads.ts";

test("a thread is pinged even while its messages are held back", () => {
  const sent: ToWorker["do"][] = [];
  const make: WorkerFactory = () => ({ separate: true, send: (order) => sent.push(order.do), end() {} });
  const held: (() => void)[] = [];
  const ordering = (send: (order: ToWorker) => void) => (order: ToWorker) => void held.push(() => send(order));
  const thread = withOrdering(make, ordering)(
    () => {},
    () => {},
  );
  thread.send({ do: "abort", drive: 1 });
  thread.send({ do: "ping" });
  expect(sent).toEqual(["ping"]);
  for (const leave of held) leave();
  expect(sent).toEqual(["ping", "abort"]);
});
