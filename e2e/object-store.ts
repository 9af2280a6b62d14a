/** An in-memory object store with the operations that backups use. */
export function startObjectStore() {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const xml = (text: string) => new Response(text, { headers: { "content-type": "application/xml" } });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, searchParams: query } = new URL(request.url);
      const [, , ...rest] = pathname.split("/");
      const name = rest.join("/");
      const body = new Uint8Array(await request.arrayBuffer());
      const found = objects.get(name);
      if (query.has("list-type")) {
        const prefix = query.get("prefix") ?? "";
        const names = [...objects.keys()].filter((each) => each.startsWith(prefix));
        const listed = names.map(
          (key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)!.length}</Size></Contents>`,
        );
        return xml(`<ListBucketResult>${listed.join("")}</ListBucketResult>`);
      }
      if (request.method === "POST" && query.has("uploads"))
        return xml("<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>");
      if (request.method === "POST") {
        objects.set(name, new Uint8Array(Buffer.concat(parts.splice(0))));
        return xml("<CompleteMultipartUploadResult><ETag>etag</ETag></CompleteMultipartUploadResult>");
      }
      if (request.method === "PUT") {
        const part = query.get("partNumber");
        if (part === null) objects.set(name, body);
        else parts[Number(part) - 1] = body;
        return new Response(null, { headers: { etag: '"etag"' } });
      }
      if (request.method === "DELETE") return new Response(null, { status: objects.delete(name) ? 204 : 404 });
      return found ? new Response(found) : new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 });
    },
  });
  return {
    port: server.port!,
    names: () => [...objects.keys()],
    [Symbol.dispose]: () => void server.stop(true),
  };
}
