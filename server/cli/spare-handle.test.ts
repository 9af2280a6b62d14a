import { afterAll, expect, test } from "bun:test";
import { createTransportGate } from "../http/https-only.ts";
import { createOwnNames } from "../http/own-names.ts";
import { silentLog } from "../lib/log.ts";
import { rawAsk } from "../testing/raw-ask.ts";
import { createListener } from "./serve/listener.ts";
import { createSpareHandle } from "./spare-handle.ts";

const { isRebound } = createTransportGate({
  rules: { tls: false, trustProxy: [], insecureHttp: true },
  peerOf: (request) => listener.peerOf(request),
  isOwnName: createOwnNames({ names: ["runs.example"], certificate: () => null }),
  onExposed() {},
});
const handle = createSpareHandle({
  isRebound,
  publicUrl: () => "https://runs.example",
  handle: () => new Response("from the leader"),
});
const listener = createListener({ host: "127.0.0.1", port: 0, certificate: null, log: silentLog, handle });
afterAll(() => listener.cut());

const ask = async (target: string, host: string) => {
  const { status, head, text } = await rawAsk(listener.port, { method: "GET", target, headers: { host } });
  return { status, head, text };
};

test.each(["/healthz", "/healthz/", "/healthz?x=1"])(
  "a spare answers %s on its own machine only if the Host header names the machine",
  async (target) => {
    for (const host of ["127.0.0.1", "localhost:8443", "runs.example"])
      expect((await ask(target, host)).text).toMatch(/^\{"status":"spare","request_id":"req_/);
    for (const host of ["evil.example", "localhost.evil.example"]) {
      const { status, text } = await ask(target, host);
      expect([status, JSON.parse(text).error.code]).toEqual([400, "validation_failed"]);
    }
  },
);

test("a spare passes on all other requests, whose Host the leader checks", async () => {
  for (const target of ["/readyz", "/v1/me", "/healthz/x", "/healthzz"])
    expect(await ask(target, "evil.example")).toMatchObject({ status: 200, text: "from the leader" });
});

test("a spare's own responses have the headers of every response", async () => {
  for (const host of ["127.0.0.1", "evil.example"]) {
    const { head, text } = await ask("/healthz", host);
    const id = JSON.parse(text).request_id;
    for (const header of [`x-request-id: ${id}`, "x-ratelimit-limit: 2147483647", "x-content-type-options: nosniff"])
      expect(head).toContain(header);
  }
});
