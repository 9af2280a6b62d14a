import { deflateRawSync } from "node:zlib";
import { streamOf } from "../documents.ts";

export const page = (contents: string, more = "") =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents ${contents} ${more}>>`;
export const catalogue = "<< /Type /Catalog /Pages 2 0 R >>";
export const onePage = "<< /Type /Pages /Count 1 /Kids [3 0 R] >>";
export const flate = (content: string, times = 1) => {
  let bytes: Uint8Array = Buffer.from(content, "latin1");
  for (let left = times; left > 0; left--) bytes = deflateZlib(bytes);
  const filters = times === 1 ? "/FlateDecode" : `[${"/FlateDecode ".repeat(times)}]`;
  return streamOf(Buffer.from(bytes).toString("latin1"), `/Filter ${filters} `);
};
/** Adds the two-byte header that PDF requires; readers ignore the checksum at the end. */
const deflateZlib = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.of(0x78, 0x9c), deflateRawSync(bytes), Buffer.alloc(4)]);
