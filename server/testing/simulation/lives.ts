import { Database } from "bun:sqlite";
import { openDatabase } from "../../db/open.ts";
import { live } from "./life.ts";

// Lives one life after another: `bun lives.ts 0 1000 2` every second one of the first 1,000. Ends with what it finds first.
const [first = 0, end = 0, step = 1] = process.argv.slice(2).map(Number);
Database.MAX_QUERY_CACHE_SIZE = 200; // Each server that begins anew prepares the same statements.
const db = openDatabase(":memory:");
for (let seed = first; seed < end; seed += step) live(db, seed);
