import type { WorkerFactory, WorkerThread } from "../../runs/dispatch/worker-threads.ts";
import type { Adapters } from "../../runtime/agent-loop/adapters.ts";
import type { Outlet } from "../../runtime/agent-loop/message-channel.ts";
import type { FromWorker, ToWorker } from "../../runtime/agent-loop/messages.ts";
import { createRunExecutor } from "../../runtime/agent-loop/run-executor.ts";
import type { Owner, World } from "./world.ts";

/** Simulated worker thread: the real engine, with faults. */
export interface SimulatedThread extends Owner {
  name: string;
  /** Ends the thread and notifies the pool; a zombie continues all the same, and its messages arrive. */
  die(zombie: boolean): void;
}

/** Creates threads that can die, keep running after they are given up, and be stuck for a while. */
export function createThreads(world: World, reach: (thread: SimulatedThread) => Adapters) {
  const living: SimulatedThread[] = [];
  let count = 0;
  const bury = (thread: SimulatedThread) => void (living.includes(thread) && living.splice(living.indexOf(thread), 1));

  const factory: WorkerFactory = (hear, died): WorkerThread => {
    const thread: SimulatedThread = {
      name: `thread ${++count}`,
      frozen: false,
      dead: false,
      die(zombie) {
        world.note(`${thread.name} dies${zombie ? " and goes on" : ""}`);
        bury(thread);
        thread.dead = !zombie;
        died("simulated");
      },
    };
    // Messages sent before the end may still arrive: they wait in the process, not in the thread.
    const notices = channel<FromWorker>(world, `hear ${thread.name}`, undefined, hear);
    const send = (notice: FromWorker) => void (thread.dead || notices(notice));
    const outlet: Outlet = { push: send, pushLater: (collect) => collect() };
    const executor = createRunExecutor(outlet, { now: world.now, adapters: reach(thread) });
    const orders = channel<ToWorker>(world, `tell ${thread.name}`, thread, (list) => {
      for (const order of list) executor.receive(order);
    });
    living.push(thread);
    return {
      separate: true,
      send: orders,
      end() {
        world.note(`${thread.name} is given up`);
        bury(thread);
        thread.dead = world.chance(0.5); // Terminating a thread that computes does not always end it.
        thread.frozen = false;
      },
    };
  };

  return { factory, living };
}

/** Passes items on in their order, several at a time. */
function channel<T>(world: World, label: string, owner: Owner | undefined, pass: (items: T[]) => void) {
  const items: T[] = [];
  const flush = () => {
    const batch = items.splice(0, 1 + world.int(items.length));
    if (items.length > 0) world.queue(label, flush, owner);
    pass(batch);
  };
  return (item: T): void => {
    if (items.push(item) === 1) world.queue(label, flush, owner);
  };
}
