import { describe, expect, test } from "bun:test";
import { decodeAs, decodeText } from "./decode.ts";
import { parse } from "./parse.ts";

const texts = {
  russian: "Ключ от сарая висит за стойкой, вёсла лежат на полке.",
  czech: "Klíč od loděnice visí za pultem, vesla leží na polici.",
  greek: "Το κλειδί του λεμβοστασίου κρέμεται πίσω από τον πάγκο.",
  turkish: "Kayıkhanenin anahtarı tezgâhın arkasında asılı, kürekler rafta.",
  hebrew: "המפתח של בית הסירות תלוי מאחורי הדלפק",
  arabic: "مفتاح بيت القوارب معلق خلف المنضدة",
  latvian: "Laivu mājas atslēga karājas aiz letes, airi ir plauktā.",
  thai: "กุญแจโรงเก็บเรือแขวนอยู่หลังเคาน์เตอร์",
  german: "Der Schlüssel hängt hinter der Theke, die Ruder liegen im Regal.",
};
/** Bytes of texts in encodings that the runtime decodes but does not encode. */
const encoded: Record<string, [text: string, hex: string]> = {
  gb18030: ["姓名,部门\n张伟,仓库\n李娜,前台\n", "d0d5c3fb2cb2bfc3c50ad5c5ceb02cb2d6bfe20ac0eec4c82cc7b0cca80a"],
  shift_jis: [
    "鍵はカウンターの後ろに掛かっています。",
    "8cae82cd834a83458393835e815b82cc8ce382eb82c98a7c82a982c182c482a282dc82b78142",
  ],
  "euc-jp": [
    "鍵はカウンターの後ろに掛かっています。",
    "b8b0a4cfa5aba5a6a5f3a5bfa1bca4ceb8e5a4eda4cbb3dda4aba4c3a4c6a4a4a4dea4b9a1a3",
  ],
  "euc-kr": ["열쇠는 카운터 뒤에 걸려 있습니다", "bfadbce8b4c220c4abbfeec5cd20b5dabfa120b0c9b7c120c0d6bdc0b4cfb4d9"],
  big5: ["鑰匙掛在櫃檯後面，船槳在架子上。", "c65ab0cdb1bea6b3"],
};

/** Encodes text in an encoding with one byte for each letter, by decoding each byte. */
function inOneByte(text: string, encoding: string): Uint8Array {
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decodeAs(encoding, Uint8Array.of(byte)), byte]));
  return Uint8Array.from(text, (letter) => bytes.get(letter) ?? 63);
}

const read = async (bytes: Uint8Array, { type = "text/plain", encoding = null as string | null } = {}) => {
  const { sections, report } = await parse(bytes, type, { encoding });
  const codes = report.warnings.map(({ code }) => code);
  return { text: sections.map(({ text }) => text).join("\n\n"), encoding: report.encoding, codes, report };
};

describe("text that names no encoding is read in its own one, and the file says that it was guessed", () => {
  test.each([
    ["windows-1251", texts.russian],
    ["koi8-r", texts.russian],
    ["ibm866", texts.russian],
    ["windows-1250", texts.czech],
    ["windows-1253", texts.greek],
    ["windows-1254", texts.turkish],
    ["windows-1255", texts.hebrew],
    ["windows-1256", texts.arabic],
    ["windows-1257", texts.latvian],
    ["windows-874", texts.thai],
    ["windows-1252", texts.german],
    ["x-mac-cyrillic", texts.russian],
    ["macintosh", texts.german],
    ["ibm437", texts.german],
    ["ibm850", texts.german],
    ["ibm852", texts.czech],
  ])("%s", async (encoding, text) => {
    const bytes = inOneByte(text, encoding);
    const found = await read(bytes);
    expect(found.text).toBe(text);
    expect(found.codes).toEqual(["encoding_guessed"]);
  });

  test.each(Object.entries(encoded).filter(([name]) => name !== "big5"))("%s", async (encoding, [text, hex]) => {
    const found = await read(Buffer.from(hex, "hex"));
    expect(found).toMatchObject({ text: text.trim(), encoding, codes: ["encoding_guessed"] });
  });

  test("ISO-2022-JP, although its bytes are ASCII", async () => {
    const found = await read(Buffer.from("\x1b$B8O\x1b(B key", "latin1"));
    expect(found).toMatchObject({
      text: "鍵 key".replace("鍵", new TextDecoder("euc-jp").decode(Buffer.from("b8cf", "hex"))),
      encoding: "iso-2022-jp",
    });
  });

  test.each(["имя;цена\nвесло;4,50\n", "名前,値段\nオール,4\n", "name,price\noar,4\n", "שם;מחיר\nמשוט;4\n"])(
    "UTF-16 and UTF-32 without mark: %j",
    async (text) => {
      const little = Buffer.from(text, "utf16le");
      const wide = Buffer.from(Uint32Array.from(text, (letter) => letter.codePointAt(0) ?? 0).buffer);
      const variants = {
        "utf-16le": little,
        "utf-16be": Buffer.from(little).swap16(),
        "utf-32le": wide,
        "utf-32be": Buffer.from(wide).swap32(),
      };
      for (const [encoding, bytes] of Object.entries(variants))
        expect(await read(bytes)).toMatchObject({ text: text.trim(), encoding, codes: ["encoding_guessed"] });
    },
  );

  test("but ASCII with a few zero bytes is ASCII", async () => {
    const text = "a,b,c\n1,2,3\n".repeat(10);
    expect(await read(Buffer.from(`${text}\0,2,3\n`))).toMatchObject({
      text: `${text},2,3`,
      encoding: "utf-8",
      codes: [],
    });
  });

  test("a few letters of Western Europe in a text of ASCII", async () => {
    for (const text of [
      "name,price\ncafé,4",
      "it’s “4”",
      "20 °C",
      "1 000 €",
      "© 2020 Acme",
      "São Paulo",
      "Müller",
      "naïve résumé",
      "café au lait, naïve résumé",
      "Perché è così? Più tardi, città",
    ])
      expect((await read(inOneByte(text, "windows-1252"))).text).toBe(text);
  });

  test("a few letters after a megabyte of ASCII", async () => {
    const bytes = Buffer.concat([Buffer.alloc(1_000_000, "one two\n"), inOneByte(texts.russian, "windows-1251")]);
    expect((await read(bytes)).text).toEndWith(texts.russian);
  });

  test("with a confidence in plain words", async () => {
    const words = async (bytes: Uint8Array) => (await read(bytes)).report.warnings[0]?.message;
    expect(await words(inOneByte(texts.russian, "koi8-r"))).toBe(
      "The file does not say its encoding. It was read as koi8-r, which is almost certain. If words look wrong, upload it with `encoding`.",
    );
    expect(await words(inOneByte("café", "windows-1252"))).toContain("which is a guess from few letters");
  });
});

test("UTF-8, a byte order mark and a declared encoding are no guess", async () => {
  for (const bytes of ["Schlüssel", "\ufeffSchlüssel"].map((text) => new TextEncoder().encode(text)))
    expect(await read(bytes)).toMatchObject({ text: "Schlüssel", encoding: "utf-8", codes: [] });
  expect(await read(Buffer.from("\ufeffé", "utf16le"))).toMatchObject({ text: "é", encoding: "utf-16le", codes: [] });
  const page = Buffer.concat([Buffer.from('<meta charset="cp1251"><p>'), inOneByte("Да", "windows-1251")]);
  expect(await read(page, { type: "text/html" })).toMatchObject({ text: "Да", encoding: "windows-1251", codes: [] });
});

describe("the encoding that the upload names", () => {
  test("wins over every sign of the file", async () => {
    const bytes = new TextEncoder().encode("Schlüssel");
    expect(await read(bytes, { encoding: "windows-1252" })).toMatchObject({
      text: "SchlÃ¼ssel",
      encoding: "windows-1252",
    });
    const page = Buffer.concat([Buffer.from('<meta charset="utf-8"><p>'), inOneByte("Да", "koi8-r")]);
    expect(await read(page, { type: "text/html", encoding: "koi8-r" })).toMatchObject({
      text: "Да",
      encoding: "koi8-r",
      codes: [],
    });
  });

  test("is UTF-16 in the order of its mark", async () => {
    const big = Buffer.from("\ufeffé", "utf16le").swap16();
    expect(await read(big, { encoding: "utf-16le" })).toMatchObject({ text: "é", encoding: "utf-16be", codes: [] });
  });

  test("wins also if bytes do not fit, and the file says how many characters were replaced", async () => {
    const bytes = Buffer.concat([Buffer.from(encoded.shift_jis?.[1] ?? "", "hex"), Buffer.from([0xff, 10, 0xff])]);
    const found = await read(bytes, { encoding: "shift_jis" });
    expect(found).toMatchObject({ encoding: "shift_jis", codes: ["encoding_errors"] });
    expect(found.report.warnings[0]?.message).toBe(
      '2 characters are not valid in shift_jis and were replaced by "\ufffd".',
    );
  });
});

test("UTF-8 with a few broken bytes stays UTF-8, and the file says how many characters were replaced", async () => {
  const bytes = Buffer.concat([Buffer.from("Schlüssel für Türen über Brücken\n"), Buffer.from([0xff])]);
  const found = await read(bytes);
  expect(found).toMatchObject({ encoding: "utf-8", codes: ["encoding_errors"] });
  expect(found.report.warnings[0]?.message).toStartWith("One character is not valid in utf-8");
});

describe("a page is read in the encoding that it declares", () => {
  const html = (text: string) => read(inOneByte(text, "windows-1251"), { type: "text/html" });

  test("after any number of scripts, and not in a comment or a script", async () => {
    const script = `<SCRIPT>var a = '<meta charset="koi8-r">';</script><!-- <meta charset="koi8-r"> -->`;
    const page = `<html><head>${script.repeat(100)}<meta http-equiv=Content-Type content="text/html; charset=windows-1251"><p>Да`;
    expect(await html(page)).toMatchObject({ text: "Да", encoding: "windows-1251", codes: [] });
  });

  test("in its XML declaration", async () => {
    const page = `<?xml version="1.0" encoding="windows-1251"?><html><body><p>Ключ от склада</p></body></html>`;
    expect(await html(page)).toMatchObject({ text: "Ключ от склада", encoding: "windows-1251", codes: [] });
  });

  test("unless its bytes show that it is another one", async () => {
    const page = (name: string) => html(`<meta charset="${name}"><p>${texts.russian}`);
    for (const wrong of ["utf-8", "utf-16", "martian", "euc-kr"])
      expect(await page(wrong)).toMatchObject({
        text: texts.russian,
        encoding: "windows-1251",
        codes: ["encoding_guessed"],
      });
  });

  test("also if it is of East Asia and could be UTF-8 by chance", async () => {
    const bytes = Buffer.concat([Buffer.from("<meta charset=gb2312><p>"), Buffer.from("c4a3cab1", "hex")]);
    expect(await read(bytes, { type: "text/html" })).toMatchObject({ text: "模时", encoding: "gbk" });
  });
});

test("code is read in the encoding that its first lines declare", async () => {
  const python = inOneByte("#!/usr/bin/python\n# -*- coding: cp1251 -*-\nname = 'Да'", "windows-1251");
  expect(await read(python, { type: "text/x-python" })).toMatchObject({ encoding: "windows-1251", codes: [] });
  const xml = inOneByte('<?xml version="1.0" encoding="koi8-r"?><a>Да</a>', "koi8-r");
  expect((await read(xml, { type: "application/xml" })).text).toContain("<a>Да</a>");
  const css = inOneByte('@charset "windows-1251";\na::before { content: "Да" }', "windows-1251");
  expect((await read(css, { type: "text/css" })).text).toContain("Да");
});

test("names of encodings are known by the names that programs use", () => {
  const bytes = Buffer.from("8cae", "hex");
  for (const name of ["shift_jis", "Shift-JIS", "SJIS", "cp932", "MS932", "windows-31j"])
    expect(decodeText(bytes, name)).toBe("鍵");
});
