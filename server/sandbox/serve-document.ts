import { documentBounds } from "../documents/bounds.ts";
import { type Count, chunkSections, type DocumentChunk } from "../documents/chunking.ts";
import { loadTokenCounter } from "../documents/count-tokens.ts";
import { DocumentError, type ParseFault, tooLarge } from "../documents/document-error.ts";
import { parse } from "../documents/parse.ts";
import { loadPdf } from "../documents/parse-pdf.ts";
import { batchBytes, type DocumentHead, decodeHead, encodeChunks } from "./document-message.ts";
import type { LastRights } from "./last-rights.ts";
import { encodePacket } from "./packet.ts";
import { readInput, writeOutput } from "./pipes.ts";

/** The second life of a child: loads the parsers, waits for one document, reads it, answers and exits. */
export async function serveDocument(rights: LastRights): Promise<never> {
  await loadPdf();
  const countTokens = loadTokenCounter();
  rights.loaded();
  writeOutput(encodePacket("ready"));
  const head = decodeHead(readInput);
  if (head === null) process.exit(0);
  writeOutput(encodePacket("started"));
  const bytes = readInput(head.bytes);
  if (bytes === null) process.exit(0);
  rights.told();
  const end = await read(bytes, head, countTokens).catch(fault);
  writeOutput(encodePacket("ended", new TextEncoder().encode(JSON.stringify(end))));
  process.exit(0);
}

interface DocumentEnd {
  error: { code: ParseFault; message: string } | null;
  pages: number | null;
}

async function read(
  bytes: Uint8Array,
  { mime_type, chunking }: DocumentHead,
  countTokens: Count,
): Promise<DocumentEnd> {
  const { sections, pages } = await parse(bytes, mime_type);
  let [batch, size, count]: [DocumentChunk[], number, number] = [[], 0, 0];
  const flush = () => {
    if (batch.length > 0) writeOutput(encodePacket("chunks", encodeChunks(batch)));
    [batch, size] = [[], 0];
  };
  for (const chunk of chunkSections(sections, chunking, countTokens)) {
    if (++count > documentBounds.chunks) {
      throw tooLarge(`The document makes more than ${documentBounds.chunks} chunks of this size.`);
    }
    batch.push(chunk);
    size += chunk.text.length;
    if (size > batchBytes) flush();
  }
  flush();
  return { error: null, pages };
}

function fault(error: unknown): DocumentEnd {
  const known = error instanceof DocumentError ? error : new DocumentError("document_unreadable", "It is damaged.");
  return { error: { code: known.code, message: known.message.slice(0, documentBounds.message) }, pages: null };
}
