import { expect, test } from "bun:test";
import { head_bytes, limitHeaderSize } from "./header-size-limit.ts";

const withHeader = (name: string, value: string) => new Request("https://localhost/", { headers: [[name, value]] });

test.each(["x-anything", "set-cookie", "cookie"])(
  "the size limit of a request's head counts the text of %s",
  (name) => {
    expect(() => limitHeaderSize(withHeader(name, "x".repeat(head_bytes - 100)))).not.toThrow();
    expect(() => limitHeaderSize(withHeader(name, "x".repeat(head_bytes)))).toThrow("have at most");
  },
);
