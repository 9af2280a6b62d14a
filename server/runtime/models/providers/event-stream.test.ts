import { expect, test } from "bun:test";
import { eventFrame } from "../../../testing/event-stream-frame.ts";
import { framesOf } from "./event-stream.ts";

const readHex = (hex: string) => Array.fromAsync(framesOf(new Response(Buffer.from(hex, "hex")), () => {}));

// Messages of AWS's public test vectors: an empty one, and one with a payload and no headers.
const empty = "000000100000000005c248eb7d98c8ff";
const plain = `0000001d00000000fd528c5a${Buffer.from("{'foo':'bar'}").toString("hex")}c3653936`;

test("messages are read as AWS's test vectors write them", async () => {
  expect(await readHex(empty + plain)).toEqual([
    [
      { kind: "event", type: "", payload: "" },
      { kind: "event", type: "", payload: "{'foo':'bar'}" },
    ],
  ]);
});

test.each([
  ["prelude", empty.replace("05c248eb", "05c248ec")],
  ["message", plain.replace("c3653936", "c3653937")],
  ["payload", plain.replace("7b27", "7b28")],
])("a wrong checksum of the %s is refused", async (_, hex) => {
  expect(await readHex(hex).catch((error: Error) => error)).toBeInstanceOf(Error);
});

test.each(["0000000f00000000", "7fffffff00000000"])("a message cannot have the length %s", async (hex) => {
  const read = await readHex(`${hex}05c248eb7d98c8ff`).catch((error: Error) => error);
  expect(String(read)).toContain("A frame cannot have");
});

test("exceptions are told apart from events", async () => {
  const bytes = Buffer.concat([eventFrame("a", { n: 1 }), eventFrame("b", { message: "m" }, "exception")]);
  expect(await readHex(bytes.toString("hex"))).toEqual([
    [
      { kind: "event", type: "a", payload: '{"n":1}' },
      { kind: "exception", type: "b", payload: '{"message":"m"}' },
    ],
  ]);
});

test("a large message in thousands of pieces is read once it is complete", async () => {
  const bytes = eventFrame("a", { text: "x".repeat(1_000_000) });
  let at = 0;
  const pull = (controller: ReadableStreamDefaultController) => {
    if (at >= bytes.length) return controller.close();
    controller.enqueue(bytes.subarray(at, at + 100));
    at += 100;
  };
  let reads = 0;
  const all = await Array.fromAsync(framesOf(new Response(new ReadableStream({ pull })), () => reads++));
  expect([all.flat().map(({ payload }) => payload.length), reads >= 1]).toEqual([[1_000_011], true]);
});
