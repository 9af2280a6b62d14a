import { expect, test } from "bun:test";
import { createNodeSeal } from "./between-nodes.ts";
import { isOrder, readOrder, sealOrder } from "./orders.ts";

const seal = createNodeSeal(new Uint8Array(32).fill(1));
const stranger = createNodeSeal(new Uint8Array(32).fill(2));
const [path, said] = ["/.runnel/command", '{"args":["keys","list"]}'];

/** With a body that tells whether anybody has asked for it. */
function post(headers: Record<string, string>, body = said, at = path) {
  let isRead = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        isRead = true;
        controller.enqueue(new TextEncoder().encode(body));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const request = new Request(`http://a.example${at}`, { method: "POST", headers, body: stream });
  return { request, isRead: () => isRead };
}

const text = async (order: Promise<Uint8Array | null>) => {
  const body = await order;
  return body && new TextDecoder().decode(body);
};

test("an order is what whoever has the master key says to this path; of any other one nothing is read", async () => {
  const own = post(sealOrder(seal, path, said));
  expect([isOrder(own.request), await text(readOrder(own.request, seal))]).toEqual([true, said]);
  const others = [
    post({}),
    post({ "x-runnel-command": "x" }),
    post(sealOrder(stranger, path, said)),
    post(sealOrder(seal, path, said), said, "/.runnel/backup"),
  ];
  for (const { request, isRead } of others) expect([await readOrder(request, seal), isRead()]).toEqual([null, false]);
  expect(isOrder(others[0]!.request)).toBe(false);
});

test("another body than the one that was signed is none, and an order that may be followed once is none the next time", async () => {
  const headers = sealOrder(seal, path, said);
  expect(await readOrder(post(headers, '{"args":["keys","create"]}').request, seal)).toBeNull();
  const once = () => text(readOrder(post(headers).request, seal, { once: true }));
  expect([await once(), await once()]).toEqual([said, null]);
});
