import { expect, test } from "bun:test";
import { unwrapLayoutTables } from "./layout-tables.ts";

test("tables that hold tables, have one column, or say that they place parts become blocks", () => {
  const data = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>";
  expect(unwrapLayoutTables(data)).toBe(data);
  expect(unwrapLayoutTables(`<table><tr><td>${data}</td><td>x</td></tr></table>`)).toBe(
    `  <div>${data}</div><div>x</div>  `,
  );
  expect(unwrapLayoutTables("<TABLE width=1><TR><TD>a</TD></TR><TR><TD>b</TD></TR></TABLE>")).toBe(
    "  <div>a</div>  <div>b</div>  ",
  );
  expect(unwrapLayoutTables('<table role="presentation"><tr><td>a<td>b</table>')).toBe("  <div>a<div>b ");
});

test("a table without an end, and an end without a table, are left or unwrapped without a loss", () => {
  expect(unwrapLayoutTables("</table><td>a</td><table><tr><td>b")).toBe("</table><td>a</td>  <div>b");
});
