import { expect, test } from "bun:test";
import { chooseVersions } from "./alternatives.ts";

const many = (word: string, count: number) => Array.from({ length: count }, (_, at) => `${word}${at}`).join(" ");

test("the plainest version with the words of the others is taken, whatever their addresses are", () => {
  const plain = "See the list https://x.test/a?b=1 now";
  expect(chooseVersions([plain, "See the [list](https://x.test/c) now"])).toEqual([{ index: 0, lines: null }]);
});

test("lines with words that only the other version has follow", () => {
  const [plain, html] = [`${many("word", 30)}`, `Preview\n${many("word", 30)}\nUSA word1`];
  expect(chooseVersions([plain, html])).toEqual([
    { index: 0, lines: null },
    { index: 1, lines: ["Preview", "USA word1"] },
  ]);
});

test("a version that says something else is kept whole if it is long, and left out if it is short", () => {
  const [plain, html] = [many("one", 40), many("two", 40)];
  expect(chooseVersions([plain, html])).toEqual([
    { index: 1, lines: null },
    { index: 0, lines: null },
  ]);
  expect(chooseVersions([many("one", 9), html])).toEqual([{ index: 1, lines: null }]);
});

test("words of Chinese and Japanese are compared by their characters", () => {
  expect(chooseVersions(["仓库的钥匙", "仓库的钥匙在前台上面"])).toEqual([{ index: 1, lines: null }]);
});

test("versions without words are passed over, and if there are only such, the last one is taken", () => {
  expect(chooseVersions([" ", "text"])).toEqual([{ index: 1, lines: null }]);
  expect(chooseVersions([" ", "…"])).toEqual([{ index: 1, lines: null }]);
  expect(chooseVersions([])).toEqual([]);
});
