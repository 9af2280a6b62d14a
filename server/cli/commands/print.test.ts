import { expect, test } from "bun:test";
import { table } from "./print.ts";

test("no cell of a table moves the cursor, ends a line or begins a column", () => {
  const text = table(["NAME", "STATUS"], [["a\u001b[2K\r\n\tb\u009b", "active"]]);
  expect(text).toBe("NAME        STATUS\na\ufffd[2K\ufffd\ufffd\ufffdb\ufffd  active");
});
