interface EncodedFile {
  name: string;
  content: Uint8Array;
}

const block = /^begin(?:-base64)? [0-7]{3,4} (.{1,300})\n((?:[ -`]{1,100}\n)*?)(?:`?\n)?end[ \t]*$/gm;

/** Takes the files out of a text that are written into it by uuencode. */
export function takeEncodedFiles(text: string): { text: string; files: EncodedFile[] } {
  if (!text.includes("begin")) return { text, files: [] };
  const files: EncodedFile[] = [];
  const rest = text.replace(block, (whole, name: string, lines: string) => {
    const content = lines.split("\n").map(decodeLine);
    if (content.some((bytes) => bytes === null)) return whole;
    files.push({ name: name.trim(), content: new Uint8Array(Buffer.concat(content as Uint8Array[])) });
    return "";
  });
  return { text: rest, files };
}

/** Decodes a line: its length, then four characters for three bytes. Returns null if it is too short. */
function decodeLine(line: string): Uint8Array | null {
  if (line === "") return new Uint8Array();
  const codes = [...line].map((letter) => (letter.charCodeAt(0) - 32) & 63);
  const [length = 0, ...coded] = codes;
  // Spaces at the end are lost on the way.
  if (coded.length + 4 < Math.ceil((length * 4) / 3)) return null;
  const bytes: number[] = [];
  for (let at = 0; at < coded.length; at += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = coded.slice(at, at + 4);
    bytes.push((a << 2) | (b >> 4), ((b & 15) << 4) | (c >> 2), ((c & 3) << 6) | d);
  }
  return new Uint8Array(bytes.slice(0, length));
}
