import type { Thread, ThreadFactory } from "../../runs/threads.ts";
import { createEngine } from "../../worker/engine.ts";
import type { Notice, Order } from "../../worker/messages.ts";
import type { Reach } from "../../worker/reach.ts";
import type { Owner, World } from "./world.ts";

/** A worker thread of the world: the real engine, with a temper. */
export interface SimulatedThread extends Owner {
  name: string;
  /** The pool hears that it has ended; as a zombie it goes on all the same, and is heard. */
  die(zombie: boolean): void;
}

/** Makes threads that can die, live on when they are given up, and be stuck for a while. */
export function createThreads(world: World, reach: (thread: SimulatedThread) => Reach) {
  const living: SimulatedThread[] = [];
  let count = 0;
  const bury = (thread: SimulatedThread) => void (living.includes(thread) && living.splice(living.indexOf(thread), 1));

  const factory: ThreadFactory = (hear, died): Thread => {
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
    // What was sent before the end may still arrive: it waits in the process and not in the thread.
    const notices = channel<Notice>(world, `hear ${thread.name}`, undefined, hear);
    const send = (notice: Notice) => void (thread.dead || notices(notice));
    const engine = createEngine(send, { now: world.now, reach: reach(thread) });
    const orders = channel<Order>(world, `tell ${thread.name}`, thread, (list) => {
      for (const order of list) engine.receive(order);
    });
    living.push(thread);
    return {
      separate: true,
      send: orders,
      end() {
        world.note(`${thread.name} is given up`);
        bury(thread);
        thread.dead = world.chance(0.5); // Ending a thread that computes does not always end it.
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
