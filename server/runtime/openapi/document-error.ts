import type { RefusalCode } from "../../domain/openapi-import.ts";

/** A document that cannot be read; the message is for its author. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
}

/** An operation that cannot become a tool; the message is for the person who imports it. */
export class OperationRefused extends Error {
  override readonly name = "OperationRefused";
  constructor(
    readonly code: RefusalCode,
    message: string,
  ) {
    super(message);
  }
}
