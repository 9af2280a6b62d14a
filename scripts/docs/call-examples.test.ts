import { expect, test } from "bun:test";
import { callOf } from "../../dashboard/src/lib/client-code.ts";
import { testApp } from "../../server/testing/test-app.ts";
import { methodsOf, type OpenApi } from "../sdk-codegen/openapi.ts";

// The dashboard shows a request as a client call, which it derives from the address alone.
test("every request is recognized as its operation", async () => {
  await using server = testApp();
  const document: OpenApi = (await server.send("GET", "/docs/openapi.json")).body;
  const methods = methodsOf(document);
  for (const { resource, name, verb, path, inPath } of methods) {
    const ids = inPath.map((_, at) => `some/id ${at}`);
    const address = inPath.reduce(
      (filled, one, at) => filled.replace(`{${one.name}}`, encodeURIComponent(ids[at]!)),
      path,
    );
    expect(callOf(verb as "GET", `${address}?wait=5`)).toEqual({
      operationId: [...resource, name].join("."),
      ids,
      query: { wait: "5" },
    });
  }
  expect(methods.length).toBeGreaterThan(90);
});
