/** Tokens of JSON: the begin of a string, a sign, or a number or word. */
const token = /["{}[\],:]|[^\s"{}[\],:]+/g;

/** Returns the tokens. A pattern of a whole string would run out of memory at a few million characters. */
function* tokensOf(json: string): Generator<string> {
  token.lastIndex = 0;
  for (let found = token.exec(json); found; found = token.exec(json)) {
    if (found[0] !== '"') yield found[0];
    else {
      const end = stringEnd(json, found.index);
      yield json.slice(found.index, end);
      token.lastIndex = end;
    }
  }
}

/** Returns the position behind the quote that ends a string. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}

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
  for (const sign of tokensOf(json)) {
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
