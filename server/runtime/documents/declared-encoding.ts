// A page can hold long scripts before its declaration.
const headBytes = 1_048_576;

/** Returns the encoding that a web page declares in a `meta` element, else in its XML declaration. */
export function declaredInHtml(bytes: Uint8Array): string | undefined {
  const head = asLatin1(bytes, headBytes);
  const start = /<!--|<(script|style)[\s>]|<meta\s/gi;
  const letters = head.toLowerCase();
  for (let found = start.exec(head); found; found = start.exec(head)) {
    // Comments and scripts can contain such an element as well.
    const [sign, name] = found;
    const isMeta = sign.startsWith("<m") || sign.startsWith("<M");
    const sought = isMeta ? ">" : name === undefined ? "-->" : `</${name.toLowerCase()}`;
    const end = letters.indexOf(sought, start.lastIndex);
    if (end < 0) break;
    const charset = isMeta ? charsetIn(head.slice(found.index, end)) : undefined;
    if (charset !== undefined) return charset;
    start.lastIndex = end;
  }
  return declaredInXml(bytes);
}

const charsetIn = (element: string): string | undefined => /charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(element)?.[1];

/** Returns the encoding that the XML declaration names. */
export const declaredInXml = (bytes: Uint8Array): string | undefined =>
  /^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})["']/.exec(asLatin1(bytes, 512))?.[1];

/** Returns the encoding that source code or a style sheet declares in its first lines. */
export const declaredInCode = (bytes: Uint8Array): string | undefined =>
  /^(?:.{0,200}\n)?[ \t]*(?:#|\/\/|\/\*|--|;|%|").{0,100}?coding[:=][ \t]*([\w.-]{2,40})/.exec(
    asLatin1(bytes, 512),
  )?.[1] ??
  /^@charset "([\w.:-]{2,40})";/.exec(asLatin1(bytes, 512))?.[1] ??
  declaredInXml(bytes);

const asLatin1 = (bytes: Uint8Array, most: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, most)).toString("latin1");
