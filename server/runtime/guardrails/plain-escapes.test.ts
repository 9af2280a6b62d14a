import { expect, test } from "bun:test";
import { createRandom } from "../../testing/random.ts";
import { createPlainEscapes } from "./plain-escapes.ts";

/** Returns the whole output, however the text was split. */
function plain(text: string, cut: () => number = () => text.length): string {
  const escapes = createPlainEscapes();
  let all = "";
  for (let at = 0; at < text.length; ) {
    const end = at + cut();
    all += escapes.push(text.slice(at, end));
    at = end;
  }
  return all + escapes.end();
}

test.each([
  [String.raw`"s\u0077ordfish"`, `"swordfish"`],
  [String.raw`"caf\u00E9 \uD83D\uDE00 https:\/\/a.example"`, `"café 😀 https://a.example"`],
  [String.raw`"\\u0077 \" \n \u0022 \u005c \u000a"`, String.raw`"\\u0077 \" \n \u0022 \u005c \u000a"`],
  [String.raw`"\ud83d\u0041 \ude00 \u00 \ud83d"`, String.raw`"\ud83dA \ude00 \u00 \ud83d"`],
  [String.raw`\ud83d\u`, String.raw`\ud83d\u`],
])("%s parses to the same value, without unnecessary escapes", (text, expected) => {
  expect(plain(text)).toBe(expected);
});

test("however JSON is split, and whatever it contains, its value is the same", () => {
  const random = createRandom(3);
  const pieces = ["\\", "u", "00", "77", "d83d", "de00", '\\"', "\\u0041", "\\ud83d", "\\ude00", "a"];
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: 12 }, () => pieces[random.below(pieces.length)]).join("");
    const whole = plain(text);
    expect(plain(text, () => 1 + random.below(4))).toBe(whole);
    expect(meaningOf(whole)).toEqual(meaningOf(text));
  }
});

function meaningOf(text: string): unknown {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return null;
  }
}
