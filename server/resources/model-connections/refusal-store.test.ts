import { expect, test } from "bun:test";
import { createSeal } from "../../lib/seal.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { testActor } from "../../testing/test-actor.ts";
import { createRefusalStore } from "./refusal-store.ts";
import { createConnectionStore } from "./store.ts";

const gpu = {
  name: "gpu",
  provider: "openai_compatible" as const,
  base_url: "http://127.0.0.1:9/v1",
  api_key: "k-0123",
};

function stores() {
  const db = openDatabase(":memory:");
  const clock = { ms: 1 };
  const now = () => clock.ms;
  const seal = createSeal(crypto.getRandomValues(new Uint8Array(32)));
  const connections = createConnectionStore({ db, audit: createAudit({ db }), seal, environment: {}, now });
  return {
    clock,
    connections,
    refusals: createRefusalStore({ db, connections, now }),
    [Symbol.dispose]: () => db.close(),
  };
}

test("a connection remembers the refusals of its newest models, so that no list of names grows without end", async () => {
  using all = stores();
  await all.connections.put(gpu, testActor);
  for (let index = 0; index < 70; index++) {
    all.clock.ms++;
    await all.refusals.note(gpu, `m${index}`, ["strict"]);
  }
  const names = all.refusals.list("openai_compatible/gpu").map(({ model }) => model);
  expect([names.length, names[0], names.at(-1)]).toEqual([64, "m69", "m6"]);
  expect(Object.keys(all.refusals.of([gpu, gpu])["openai_compatible/gpu"] ?? {})).toHaveLength(64);
});

test("refusals of a run that began before its connection changed are not stored, nor those of no connection", async () => {
  using all = stores();
  await all.refusals.note(gpu, "m", ["strict"]);
  await all.connections.put({ ...gpu, api_key: "k-4567" }, testActor);
  await all.refusals.note(gpu, "m", ["strict"]);
  expect(all.refusals.list("openai_compatible/gpu")).toEqual([]);
  await all.refusals.note({ ...gpu, api_key: "k-4567" }, "m", ["strict"]);
  expect(all.refusals.of([gpu])).toEqual({ "openai_compatible/gpu": { m: ["strict"] } });
});
