import { expect, test } from "bun:test";
import { vecLibrary } from "../../../lib/assets.ts";
import { openDatabase } from "../../../storage/db/open.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import { addVectors, createStoreTables } from "./tables.ts";

const tables = { number: 7, generation: 1, dimensions: 4 };

const lookAgain =
  "sqlite-vec is another one. stored-vectors.ts reads tables that are private to it: compare how vec0 lays out its pieces " +
  "(_chunks, _vector_chunks00, _rowids) with what is read there, run the tests of search on old databases, and then pin it here.";

test("vec0's shadow tables are those of the version for which the reader was written", () => {
  using folder = temporaryFolder();
  const db = openDatabase(":memory:", { vecLibrary: vecLibrary(folder.path) });
  createStoreTables(db.sqlite, tables);
  addVectors(db.sqlite, tables, [{ number: 1, vector: Float32Array.of(1, 2, 3, 4) }]);
  const columnsOf = (end: string) =>
    db.sqlite
      .query<{ name: string; type: string }, [string]>("SELECT name, type FROM pragma_table_info(?)")
      .all(`memory_7_vectors_1_${end}`)
      .map(({ name, type }) => `${name} ${type}`);
  expect(db.sqlite.query("SELECT vec_version() AS version").get(), lookAgain).toEqual({ version: "v0.1.9" });
  expect(columnsOf("chunks"), lookAgain).toEqual(["chunk_id INTEGER", "size INTEGER", "validity BLOB", "rowids BLOB"]);
  expect(columnsOf("vector_chunks00"), lookAgain).toEqual(["rowid ", "vectors BLOB"]);
  expect(columnsOf("rowids"), lookAgain).toEqual(["rowid INTEGER", "id ", "chunk_id INTEGER", "chunk_offset INTEGER"]);
  db.close();
});
