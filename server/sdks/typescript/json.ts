// Integers beyond `Number.MAX_SAFE_INTEGER` would lose digits as numbers, so they are read and written as `bigint`.

/** Like `JSON.parse`, but returns a `bigint` for each integer that a number cannot represent. */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const mark = newMark();
  const marked = withMarks(text, mark);
  if (marked === text) return JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** Like `JSON.stringify`, but writes each `bigint` as an integer. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const mark = newMark();
    const json = JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? mark + each : each));
    return json.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
  }
}

/** A random prefix that no other string begins with. */
const newMark = (): string => `bigint-${crypto.randomUUID()}:`;

/** Replaces each such integer by a marked string. */
function withMarks(json: string, mark: string): string {
  let [marked, taken] = ["", 0];
  for (let at = 0; at < json.length; at++) {
    const sign = json[at]!;
    if (sign === '"') at = endOfText(json, at + 1);
    else if (sign === "-" || (sign >= "0" && sign <= "9")) {
      const from = at;
      while (/[-+.eE\d]/.test(json[at + 1] ?? "")) at++;
      const number = json.slice(from, at + 1);
      if (!/^-?\d{16,}$/.test(number) || Number.isSafeInteger(Number(number))) continue;
      marked += `${json.slice(taken, from)}"${mark}${number}"`;
      taken = at + 1;
    }
  }
  return marked + json.slice(taken);
}

/** Index of the quote that ends a string. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let first = at;
    while (first > from && json[first - 1] === "\\") first--;
    if ((at - first) % 2 === 0) return at;
  }
  return json.length;
}
