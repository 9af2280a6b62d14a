import { Database } from "bun:sqlite";
import { vectorCacheFolder } from "../../../storage/db/vector-cache.ts";
import type { FromThread, Match, ToThread } from "./messages.ts";
import { createQueue } from "./queue.ts";
import { createSearch, type Search } from "./search.ts";

declare const self: Worker;

const queue = createQueue<Match[]>();
let search: Search | null = null;

// Set the handler before the first await, because messages to a thread without one are lost.
self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  if (data.do === "open") search = start(data);
  else if (data.do === "abort") queue.drop(data.id);
  else if (!search) throw new Error("The first message must open the database.");
  else if (data.do === "forget") search.forget(data.store);
  else if (data.do === "removed") search.removed(data.store, data.numbers);
  else {
    const { id, order } = data;
    const say = (answer: FromThread) => self.postMessage(answer);
    queue.add(id, {
      owner: order.owner,
      store: order.store.number,
      work: search.run(order),
      done: (matches) => say({ id, matches }),
      failed: (error) => say({ id, fault: error instanceof Error ? error.message : String(error) }),
    });
  }
};

function start({ path, most_bytes }: Extract<ToThread, { do: "open" }>): Search {
  return createSearch(open(path), { most_bytes, folder: vectorCacheFolder(path), ownsConnection: true });
}

function open(path: string): Database {
  const sqlite = new Database(path, { readonly: true, strict: true });
  for (const pragma of ["busy_timeout = 5000", "trusted_schema = OFF", "cell_size_check = ON", "cache_size = -16384"])
    sqlite.run(`PRAGMA ${pragma}`);
  return sqlite;
}
