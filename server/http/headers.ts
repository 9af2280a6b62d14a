import { type TSchema, Type } from "@sinclair/typebox";
import { idPattern } from "../domain/ids.ts";

const header = (description: string, schema: TSchema) => ({ description, schema });

/** Request headers that some routes read. */
export const requestHeaders = {
  "Idempotency-Key": header(
    "For 24 hours the same request with the same key is not carried out again and gets the first response.",
    Type.String({ minLength: 1, maxLength: 255, pattern: "^[ -~]+$" }),
  ),
  "If-Match": header(
    "The version over which this is done: a bare integer, 0 for what is not there yet.",
    Type.String({ pattern: "^\\d{1,15}$" }),
  ),
  "If-None-Match": header("The `ETag` of what is there already: 304 while it is the same.", Type.String()),
  "If-Range": header("The `ETag` of which a `Range` is asked for; of another content all is sent.", Type.String()),
  "Last-Event-ID": header("The id of the last event that was received: the stream goes on after it.", Type.String()),
  Range: header("One range of bytes, such as `bytes=0-1023`.", Type.String()),
};
export type RequestHeader = keyof typeof requestHeaders;

/** Headers of webhook deliveries and webhook tool calls. */
export const webhookHeaders = {
  "webhook-id": header("What is sent: the same on every attempt.", Type.String()),
  "webhook-timestamp": header("When this attempt was made, in Unix seconds.", Type.String({ pattern: "^\\d+$" })),
  "webhook-signature": header(
    "`v1,` and a signature in Base64, one for each secret while it rotates, with a blank between.",
    Type.String(),
  ),
};

/** Response headers. */
export const responseHeaders = {
  "X-Request-Id": header("The request's id, for the operator's log.", Type.String({ pattern: idPattern("request") })),
  "X-RateLimit-Limit": header(
    "How many requests a minute may have; 2147483647 where there is no limit.",
    Type.Integer(),
  ),
  "X-RateLimit-Remaining": header("How many requests are left; 2147483647 where there is no limit.", Type.Integer()),
  "X-RateLimit-Reset": header(
    "When all of them are there again, in Unix seconds; 0 where there is no limit.",
    Type.Integer(),
  ),
  "Retry-After": header("After how many seconds the request may succeed.", Type.Integer({ minimum: 1 })),
  "Idempotent-Replayed": header(
    "There when this is the response to an earlier request with the same `Idempotency-Key`.",
    Type.Literal("true"),
  ),
  "WWW-Authenticate": header("How to say who asks: `Bearer`.", Type.String()),
  Location: header("The address of what was begun.", Type.String()),
  ETag: header("What `If-None-Match` and `If-Range` take: it changes with the content.", Type.String()),
  "Accept-Ranges": header("That ranges of bytes may be asked for: `bytes`.", Type.String()),
  "Content-Range": header("Which bytes these are, and of how many.", Type.String()),
  "Content-Disposition": header("The name under which to save it.", Type.String()),
};
export type ResponseHeader = keyof typeof responseHeaders;

/** Response headers of every API route. */
export const everyHeader = [
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
] as const satisfies readonly ResponseHeader[];
