import { expect, test } from "bun:test";
import { createNodeSeal } from "./node-auth.ts";
import { isCommand, readCommand, signCommand } from "./signed-commands.ts";

const seal = createNodeSeal(new Uint8Array(32).fill(1));
const stranger = createNodeSeal(new Uint8Array(32).fill(2));
const [path, said] = ["/.runnel/command", '{"args":["keys","list"]}'];

/** Creates a request with a body that records whether it was read. */
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

test("a signed command needs the master key and this path; the body of any other request is not read", async () => {
  const own = post(signCommand(seal, path, said));
  expect([isCommand(own.request), await text(readCommand(own.request, seal))]).toEqual([true, said]);
  const others = [
    post({}),
    post({ "x-runnel-command": "x" }),
    post(signCommand(stranger, path, said)),
    post(signCommand(seal, path, said), said, "/.runnel/backup"),
  ];
  for (const { request, isRead } of others) expect([await readCommand(request, seal), isRead()]).toEqual([null, false]);
  expect(isCommand(others[0]!.request)).toBe(false);
});

test("another body than the signed one is refused, and so is a one-time command the second time", async () => {
  const headers = signCommand(seal, path, said);
  expect(await readCommand(post(headers, '{"args":["keys","create"]}').request, seal)).toBeNull();
  const once = () => text(readCommand(post(headers).request, seal, { once: true }));
  expect([await once(), await once()]).toEqual([said, null]);
});
