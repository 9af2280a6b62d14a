/** Tokens of JSON: a string, a sign, or a number or word. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/**
 * Returns valid JSON as paragraphs: one for each element of its list or property of its object, or one with
 * `isWhole`. Unlike a parser it keeps duplicate keys, the order of numeric keys, and every digit.
 */
export function jsonParagraphs(json: string, isWhole: boolean): string[] {
  const paragraphs: string[] = [];
  // Depth whose values are paragraphs.
  const top = isWhole || !/^\s*[{[]/.test(json) ? 0 : 1;
  let pieces: string[] = [];
  let [depth, before] = [0, ""];
  const end = () => {
    if (pieces.length > 0) paragraphs.push(pieces.join(""));
    pieces = [];
  };
  const line = () => (depth > top ? `\n${"  ".repeat(depth - top)}` : "");
  for (const [sign] of json.matchAll(token)) {
    const isNext = before === "," || before === "{" || before === "[";
    if (sign === "}" || sign === "]") {
      depth--;
      if (depth >= top) pieces.push(isNext ? sign : `${line() || "\n"}${sign}`);
    } else if (sign === ",") {
      if (depth === top) end();
      else pieces.push(sign);
    } else if (sign === ":") pieces.push(": ");
    else {
      if (isNext) pieces.push(line());
      if (sign === "{" || sign === "[") {
        if (++depth > top) pieces.push(sign);
      } else pieces.push(depth === top ? textOf(sign) : quotedText(sign));
    }
    before = sign;
  }
  end();
  return paragraphs;
}

/** Returns a string without its quotes. */
const textOf = (sign: string): string => (sign.startsWith('"') ? (JSON.parse(sign) as string) : sign);

/** Returns a string with its quotes. Its line ends and tabs become spaces: `\n` would join the next word. */
const quotedText = (sign: string): string =>
  sign.startsWith('"') ? JSON.stringify(textOf(sign).replace(/[\n\r\t]+/g, " ")) : sign;
