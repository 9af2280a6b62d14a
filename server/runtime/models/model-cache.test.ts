import { expect, test } from "bun:test";
import type { Connection, Model } from "./model.ts";
import { createModelCache } from "./model-cache.ts";

const connection: Connection = {
  name: "a",
  provider: "openai_compatible",
  base_url: "http://127.0.0.1:1/v1",
  api_key: "k",
};

function counted() {
  const opened: string[] = [];
  const open = createModelCache({
    async open({ api_key }, model) {
      opened.push(`${api_key} ${model}`);
      if (model === "broken") throw new Error("cannot be opened");
      return { stream: async function* () {} } as Model;
    },
  });
  return { open, opened };
}

test("a model is opened once, and again when its connection has changed", async () => {
  const { open, opened } = counted();
  const first = await open(connection, "m");
  expect(await open({ ...connection }, "m")).toBe(first);
  expect(await open({ ...connection, api_key: "other" }, "m")).not.toBe(first);
  expect(opened).toEqual(["k m", "other m"]);
});

test("a model that could not be opened is opened again", async () => {
  const { open, opened } = counted();
  await expect(open(connection, "broken")).rejects.toThrow("cannot be opened");
  await expect(open(connection, "broken")).rejects.toThrow("cannot be opened");
  expect(opened).toHaveLength(2);
});

test("the cache evicts the oldest model, so that names cannot fill the memory", async () => {
  const { open, opened } = counted();
  for (let i = 0; i < 65; i++) await open(connection, `m${i}`);
  await open(connection, "m0");
  expect(opened).toHaveLength(66);
});
