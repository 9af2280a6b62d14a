import { expect, test } from "bun:test";
import { createSeal } from "../../lib/seal.ts";
import { hashSecret, mintSecret } from "../../resources/keys/secret.ts";
import { targetOf } from "./request-target.ts";

const seal = createSeal(new Uint8Array(32).fill(7));
const at = (path: string, headers: Record<string, string> = {}) =>
  targetOf(new Request(`http://localhost${path}`, { headers }), seal);
const bearing = (secret: string) => ({ authorization: `Bearer ${secret}` });
const hash = (secret: string) => Buffer.from(hashSecret(secret)).toString("hex");
const key = mintSecret("test");
const token = `ct_test_${seal.seal(JSON.stringify({ key_id: "key_1" }), "client_token/test").slice(3)}`;

test.each([
  ["an API key", at("/v1/runs?limit=2", bearing(key)), { name: hash(key), people: false }],
  ["what looks like a key", at("/v1/runs", bearing(`${key.slice(0, -1)}_`)), { name: null, people: false }],
  ["a client token", at("/v1/runs", bearing(token)), { name: "key_1", people: false }],
  ["a token in the address", at(`/v1/runs/run_1/events?token=${token}`), { name: "key_1", people: false }],
  ["a token of somebody else", at("/v1/runs", bearing(`ct_live_${token.slice(8)}`)), { name: null, people: false }],
  ["the dashboard", at("/console/api/session"), { name: null, people: "alone" }],
  ["a project at the dashboard", at("/console/api/proj_1a/test/runs"), { name: "proj_1a", people: "alone" }],
  ["a project as such", at("/console/api/projects/proj_1a"), { name: "proj_1a", people: "alone" }],
  ["a callback", at("/callbacks/run_1.call_1.mac.proj_1a"), { name: "proj_1a", people: false }],
  ["an event of a trigger", at("/triggers/trg_1.proj_1a"), { name: "proj_1a", people: false }],
  [
    "a user back from a consent",
    at("/oauth/callback?code=a&state=b-c_d.proj_1a&iss=e"),
    { name: "proj_1a", people: false },
  ],
  ["a consent of one server", at("/oauth/callback?code=a&state=b"), { name: null, people: false }],
  ["a link of a run", at("/oauth/consent/run_1.oac_1.mac.proj_1a"), { name: "proj_1a", people: false }],
  ["a link of a program", at("/oauth/consent/b-c_d.proj_1a"), { name: "proj_1a", people: false }],
  ["a link of an operator", at("/oauth/consent/connection.b-c_d"), { name: null, people: false }],
  ["a link of one server", at("/oauth/consent/run_1.oac_1.mac"), { name: null, people: false }],
  ["a callback of before", at("/callbacks/run_1.call_1.mac"), { name: null, people: false }],
  ["a visitor of a chat page", at("/chat/agt_1/token"), { name: "agt_1", people: false }],
  ["a member at a chat page", at("/chat/agt_1/token", { cookie: "a=b" }), { name: "agt_1", people: true }],
  ["the page itself", at("/chat/agt_1"), null],
  ["who reads a node's metrics", at("/metrics?x=1", bearing("a-token-for-metrics")), null],
  ["nobody", at("/v1/runs"), null],
  ["no address", at(""), null],
] as const)("the cell of %s is found by what the request bears", (_, target, expected) => {
  expect(target).toEqual(expected);
});
