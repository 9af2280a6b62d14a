import { expect, test } from "bun:test";
import { createAudit } from "../storage/db/audit.ts";
import { openDatabase } from "../storage/db/open.ts";
import { createSessions } from "./sessions.ts";

test("a person whose request another node has forwarded is still signed in, though their session is not stored here", () => {
  const db = openDatabase(":memory:");
  const ada = { id: "usr_1", email: "ada@example.com", role: "member" } as const;
  const passedOn = new Request("http://localhost/console/api/proj_1/test/runs/live");
  const personOf = (request: Request) => (request === passedOn ? ada : null);
  const sessions = createSessions({ db, audit: createAudit({ db }), personOf });
  expect(sessions.lasts("of another cell", passedOn)).toBe(true);
  expect(sessions.lasts("of nobody", new Request(passedOn.url))).toBe(false);
  db.close();
});
