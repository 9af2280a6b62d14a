import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrations } from "../../../migrations/index.ts";

test("an account from before there were roles owns the server, and stays signed in", () => {
  using sqlite = new Database(":memory:", { strict: true });
  sqlite.run("PRAGMA foreign_keys = ON");
  const people = migrations.findIndex(({ name }) => name === "0017_people");
  for (const { sql } of migrations.slice(0, people)) sqlite.run(sql);
  sqlite.run(
    "INSERT INTO users (id, email, password_hash, created_at_ms) VALUES ('usr_1', 'ada@example.com', 'hash', 1)",
  );
  for (const token of ["x'01'", "x'02'"])
    sqlite.run(`INSERT INTO sessions (hash, user_id, created_at_ms, last_seen_at_ms) VALUES (${token}, 'usr_1', 2, 3)`);
  sqlite.transaction(() => sqlite.run(migrations[people]!.sql)).immediate();
  expect(sqlite.query("SELECT id, role FROM users").all()).toEqual([{ id: "usr_1", role: "owner" }]);
  const sessions = sqlite.query("SELECT hash, id, user_id, user_agent, created_at_ms, last_seen_at_ms FROM sessions");
  const kept = { id: expect.stringMatching(/^ses_\w{26}$/), user_id: "usr_1", user_agent: null };
  expect(sessions.all()).toEqual(
    [1, 2].map((byte) => ({ ...kept, hash: new Uint8Array([byte]), created_at_ms: 2, last_seen_at_ms: 3 })),
  );
  sqlite.run("DELETE FROM users");
  expect(sessions.all()).toEqual([]);
});
