import type { ImportChoices, PlannedDocument, PlannedOperation } from "../../domain/openapi-import.ts";
import { DocumentError } from "../openapi/document-error.ts";
import { readOpenApi } from "../openapi/read-openapi.ts";
import { createBatches, serveContent } from "./child-output.ts";
import type { DropPrivileges } from "./drop-privileges.ts";

/** First message to a child that reads an OpenAPI document. */
export type OpenApiHead = { bytes: number; choices: ImportChoices };

/** Last message of such a child. */
type OpenApiChildEnd = { error: string; document?: undefined } | { error: null; document: PlannedDocument };

/** Runs a child that reads one OpenAPI document: writes its operations and exits. */
export const serveOpenApi = (dropPrivileges: DropPrivileges): Promise<never> =>
  serveContent<OpenApiHead>(dropPrivileges, (bytes, { choices }) => endOf(bytes, choices));

function endOf(bytes: Uint8Array, choices: ImportChoices): OpenApiChildEnd {
  const batches = createBatches<PlannedOperation>("rows");
  try {
    const document = readOpenApi(bytes, choices, (each) => batches.add(each, sizeOf(each)));
    batches.flush();
    return { error: null, document };
  } catch (error) {
    if (error instanceof DocumentError) return { error: error.message };
    if (error instanceof RangeError) return { error: "The document nests too deep." };
    return { error: "The document cannot be read: it is not built as OpenAPI says." };
  }
}

const sizeOf = ({ tool }: PlannedOperation): number => 500 + (tool ? JSON.stringify(tool).length : 0);
