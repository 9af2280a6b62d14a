import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A document in YAML: a list, one pet, an upload, and an operation that cannot be a tool. */
export const petsDocument = (url: string, { summary = "Finds pets by their tags." } = {}): string => `openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: "${url}/v1"}, {url: "${url}/v2", description: Next version}]
components:
  securitySchemes:
    token: {type: http, scheme: bearer}
security: [{token: []}]
paths:
  /pets:
    get:
      operationId: findPets
      tags: [pets]
      summary: ${summary}
      parameters:
        - {name: tags, in: query, explode: false, schema: {type: array, items: {type: string}}}
    options: {operationId: optionsOfPets, tags: [pets]}
  /pets/{id}:
    get:
      operationId: getPet
      tags: [pets]
      summary: Reads a pet.
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
  /pets/{id}/photo:
    post:
      operationId: addPhoto
      tags: [photos]
      summary: Adds a photo of a pet.
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema:
              type: object
              required: [photo]
              properties: {photo: {type: string, format: binary}, caption: {type: string}}
`;

/** A document with 1,200 operations in 12 groups. */
export function largeDocument(): string {
  const paths = Object.fromEntries(
    Array.from({ length: 1200 }, (_, index) => [
      `/things/${index}`,
      {
        get: {
          operationId: `operation${index}`,
          tags: [`Group ${index % 12}`],
          summary: `Reads the thing of operation ${index}.`,
        },
      },
    ]),
  );
  const servers = [{ url: "https://api.example.com" }];
  return JSON.stringify({ openapi: "3.0.3", info: { title: "Large", version: "1" }, servers, paths });
}

export type Documents = Awaited<ReturnType<typeof serveDocuments>>;

/** Serves documents on loopback, and answers calls of their API. */
export async function serveDocuments() {
  const texts = new Map([["/page.html", "<!doctype html><html><body>API documentation</body></html>"]]);
  const authorizations: string[] = [];
  const server = createServer((request, response) => {
    const text = texts.get(request.url ?? "");
    const isApi = request.url?.startsWith("/v1/");
    authorizations.push(...(isApi ? [request.headers.authorization ?? ""] : []));
    response.writeHead(text !== undefined || isApi ? 200 : 404, {
      "content-type": isApi ? "application/json" : "text/plain",
    });
    response.end(text ?? "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  texts.set("/pets.yaml", petsDocument(url));
  return {
    url,
    /** Authorization headers of the calls of the API. */
    authorizations,
    set: (path: string, text: string) => texts.set(path, text),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
