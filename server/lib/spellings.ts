/** A text, perhaps without its escapes, that knows where in the original each of its characters begins. */
export interface Spelling {
  text: string;
  /** Where in the original the character of this index begins; of the index after the last one, where it ends. */
  at(index: number): number;
}

/** A text as it is, and as it reads without the escapes of JSON, URLs and HTML, also of one within another. */
export function spellingsOf(text: string): Spelling[] {
  const itself: Spelling = { text, at: (index) => index };
  return [itself, ...plainer(itself).flatMap((once) => [once, ...plainer(once)])];
}

interface Escapes {
  form: RegExp;
  read: (escaped: string) => string;
}

const controls: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const entities: Record<string, string> = { "&quot;": '"', "&apos;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">" };

// One after the other and never mixed: a secret with a percent sign in it is still found in JSON.
const schemes: Escapes[] = [
  {
    form: /\\(?:u[\da-f]{4}|["\\/bfnrt])/gi,
    read: (escaped) =>
      escaped.length > 2
        ? String.fromCharCode(Number.parseInt(escaped.slice(2), 16))
        : (controls[escaped[1]!] ?? escaped[1]!),
  },
  {
    form: /%(?:[0-7][\da-f]|[cd][\da-f]%[89ab][\da-f]|e[\da-f]%[89ab][\da-f]%[89ab][\da-f])/gi,
    read: (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8"),
  },
  {
    form: /&(?:#\d{1,5}|#x[\da-f]{1,4}|quot|apos|amp|lt|gt);/gi,
    read: (escaped) =>
      entities[escaped.toLowerCase()] ?? String.fromCharCode(Number(escaped.slice(2, -1).replace(/^x/i, "0x"))),
  },
];

const plainer = (spelling: Spelling): Spelling[] => schemes.flatMap((scheme) => without(scheme, spelling) ?? []);

/** Null where there is nothing to take out. */
function without({ form, read }: Escapes, { text, at }: Spelling): Spelling | null {
  const begins: number[] = [];
  let [plain, end] = ["", 0];
  const keep = (to: number) => {
    for (let index = end; index < to; index++) begins.push(at(index));
    plain += text.slice(end, to);
  };
  for (const { 0: escaped, index } of text.matchAll(form)) {
    keep(index);
    begins.push(at(index));
    // Always one character, so that the two go in step.
    plain += read(escaped)[0] ?? "\uFFFD";
    end = index + escaped.length;
  }
  if (end === 0) return null;
  keep(text.length);
  begins.push(at(text.length));
  return { text: plain, at: (index) => begins[index]! };
}
