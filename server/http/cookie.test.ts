import { expect, test } from "bun:test";
import { cookieOf } from "./cookie.ts";

const session = { name: "session", seconds: 60 };

/** Returns what a browser sends to an address, whose cookies were set by these headers. */
const requestTo = (address: string, ...set: string[]): Request =>
  new Request(address, { headers: { cookie: set.map((header) => header.split(";")[0]).join("; ") } });

test("two servers for development on one machine keep their sessions apart", () => {
  const cookie = cookieOf({ ...session, secure: false, byPort: true });
  const [one, other] = ["http://127.0.0.1:8440/a", "http://127.0.0.1:8441/a"];
  const jar = [cookie.set("first", new Request(one)), cookie.set("second", new Request(other))];
  expect([one, other].map((address) => cookie.read(requestTo(address, ...jar)))).toEqual(["first", "second"]);
  const cleared = cookie.clear(new Request(other));
  expect(cleared).toStartWith("session_8441=;");
  expect(cookie.read(requestTo("http://127.0.0.1/", ...jar))).toBeNull();
});

test("a server in service has the same name for each port", () => {
  const cookie = cookieOf({ ...session, name: "__Host-session", secure: true });
  const set = cookie.set("first", new Request("https://agents.example.com:8443/a"));
  expect(set).toBe("__Host-session=first; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=60");
  expect(cookie.read(requestTo("https://agents.example.com/b", set))).toBe("first");
});
