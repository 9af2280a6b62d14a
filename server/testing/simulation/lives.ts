import { Database } from "bun:sqlite";
import { openDatabase } from "../../storage/db/open.ts";
import { live } from "./life.ts";

// Simulates one life after another: `bun lives.ts 0 1000 2` takes every second one of the first 1,000. Stops at the
// first fault.
const [first = 0, end = 0, step = 1] = process.argv.slice(2).map(Number);
Database.MAX_QUERY_CACHE_SIZE = 200; // Each restarted server prepares the same statements.
const db = openDatabase(":memory:");
for (let seed = first; seed < end; seed += step) live(db, seed);
