import { archives } from "./hostile-documents/archives.ts";
import type { HostileDocument } from "./hostile-documents/hostile-document.ts";
import { markup } from "./hostile-documents/markup.ts";
import { others } from "./hostile-documents/other-formats.ts";
import { portable } from "./hostile-documents/pdfs.ts";
import { tables } from "./hostile-documents/tables.ts";
import { wrong } from "./hostile-documents/wrong-kinds.ts";

/**
 * Documents that an attacker may upload. Each must end in time with one of its expected results, and harm no other
 * work.
 */
export const hostileDocuments: readonly HostileDocument[] = [
  ...archives,
  ...markup,
  ...tables,
  ...others,
  ...portable,
  ...wrong,
];
