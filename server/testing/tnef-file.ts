const [messageLevel, attachmentLevel] = [1, 2];

/** Returns a file as Outlook packs a message: its plain text, its HTML, and files. */
export function tnefOf({
  plain = "",
  html = "",
  files = {},
}: {
  plain?: string;
  html?: string;
  files?: Record<string, Uint8Array>;
}) {
  const properties = [...(html === "" ? [] : [property(0x1013, 0x102, Buffer.from(html))])];
  const attributes = [
    attribute(messageLevel, 0x00069007, Buffer.from([0xe9, 0xfd, 0, 0, 0, 0, 0, 0])),
    ...(plain === "" ? [] : [attribute(messageLevel, 0x0002800c, Buffer.from(`${plain}\0`))]),
    attribute(messageLevel, 0x00069003, withCount(properties)),
    ...Object.entries(files).flatMap(([name, content]) => [
      attribute(attachmentLevel, 0x00069002, Buffer.alloc(14)),
      attribute(attachmentLevel, 0x00018010, Buffer.from("SHORT~1.TXT\0")),
      attribute(attachmentLevel, 0x0006800f, Buffer.from(content)),
      attribute(attachmentLevel, 0x00069005, withCount([property(0x3707, 0x1f, Buffer.from(`${name}\0`, "utf16le"))])),
    ]),
  ];
  return new Uint8Array(Buffer.concat([word(0x223e9f78), Buffer.from([1, 0]), ...attributes]));
}

function attribute(level: number, id: number, data: Buffer): Buffer {
  const sum = data.reduce((total, byte) => (total + byte) & 0xffff, 0);
  return Buffer.concat([Buffer.from([level]), word(id), word(data.length), data, Buffer.from([sum & 255, sum >> 8])]);
}

const property = (id: number, type: number, data: Buffer): Buffer =>
  Buffer.concat([
    word(id * 0x10000 + type),
    word(1),
    word(data.length),
    data,
    Buffer.alloc((4 - (data.length % 4)) % 4),
  ]);

const withCount = (properties: readonly Buffer[]): Buffer => Buffer.concat([word(properties.length), ...properties]);

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
