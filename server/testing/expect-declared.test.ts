import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { describeOperations } from "../http/describe-operations.ts";
import { withDeclaration } from "../http/operation.ts";
import { createExpectDeclared } from "./expect-declared.ts";

const operation = {
  id: "createThing",
  summary: "Create a thing",
  needs: "run" as const,
  creates: Type.Object({ id: Type.String() }),
  errors: ["name_taken"] as const,
  responseHeaders: ["Location"] as const,
};
const hooks = { ...withDeclaration(operation), body: Type.Object({}) };
const expectDeclared = createExpectDeclared(describeOperations([{ method: "POST", path: "/v1/things", hooks }]));

const head = { "content-type": "application/json", "x-request-id": "req_1" };
const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    expectDeclared("POST", "/v1/things?a=b", { status, body, headers: new Headers({ ...head, ...headers }) });
const refusal = (code: string) => ({
  error: { type: "t", code, message: "m", param: null, doc_url: "d" },
  request_id: "req_1",
});
const location = "/v1/things/1";

test("a response passes if its route declares it: its body, its headers, its own errors and those that every route has", () => {
  answer(201, { id: "1" }, { location })();
  answer(409, refusal("name_taken"))();
  answer(409, refusal("idempotency_key_reused"), { "retry-after": "1" })();
  answer(415, refusal("unsupported_media_type"))();
});

test("a status, an error, a header or a body that the route does not declare fails the test", () => {
  expect(answer(200, { id: "1" }, { location })).toThrow("200  is no status");
  expect(answer(404, refusal("resource_not_found"))).toThrow("404 resource_not_found is no status");
  expect(answer(409, refusal("thread_busy"))).toThrow("409 thread_busy is no error");
  expect(answer(201, { id: "1" }, { location, etag: "1" })).toThrow("does not declare: ETag");
  expect(answer(201, { id: "1" })).toThrow("has not the headers that the route declares: Location");
  expect(answer(201, { id: 1 }, { location })).toThrow("is not as declared");
  expect(answer(201, "text", { location, "content-type": "text/plain" })).toThrow(
    "a body that the route does not declare",
  );
});
