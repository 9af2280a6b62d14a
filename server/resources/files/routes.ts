import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { File, FileChunk } from "../../domain/api-types/file.ts";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import type { Auth } from "../../http/auth.ts";
import { forwardQuery, listQuery, readPage } from "../../http/page.ts";
import { EmptyBody, pathOf, pathWith } from "../../http/schemas.ts";
import { download } from "./content.ts";
import { type PageImages, pageNumber, pagePicture } from "./page-picture.ts";
import { CreateFile, CreateFileInParts, fileFilters } from "./schema.ts";
import type { FileStore } from "./store.ts";
import type { Uploader } from "./upload.ts";

const params = pathOf("file");

interface Needs {
  auth: Auth;
  files: FileStore;
  pageImages: PageImages;
  receiver: Uploader;
}

export const fileRoutes = ({ auth, files, pageImages, receiver }: Needs) =>
  new Elysia({ prefix: "/files", tags: ["Files"] })
    .use(auth)
    .post(
      "/",
      async ({ principal, body, request, status }) =>
        status(201, await files.create(principal, body, await receiver.take(request, principal, body))),
      {
        operation: {
          id: "files.create",
          summary: "Upload a file",
          needs: "run",
          client: "upload",
          visitors: true,
          read: receiver.read,
          parts: CreateFileInParts,
          creates: File,
          errors: ["file_too_large", "unsupported_file_type"],
        },
        body: CreateFile,
        afterResponse: ({ request }) => receiver.discard(request),
      },
    )
    .get("/", ({ principal, request }) => files.list(principal, readPage(request.url, fileFilters)), {
      operation: {
        id: "files.list",
        summary: "List files",
        needs: "read_or_run",
        query: { ...listQuery, ...fileFilters },
        returns: listOf(File),
      },
    })
    .get("/:id", ({ principal, params }) => files.get(principal, params.id), {
      operation: {
        id: "files.retrieve",
        summary: "Retrieve a file, without its content",
        needs: "read_or_run",
        returns: File,
      },
      params,
    })
    .get(
      "/:id/content",
      ({ principal, params, request, set }) =>
        download({ request, headers: set.headers, ...files.content(principal, params.id) }),
      {
        operation: {
          id: "files.content",
          summary: "Download a file, or a range of it",
          needs: "read_or_run",
          client: "read",
          visitors: true,
          media: ["application/octet-stream", "*/*"],
          returns: Type.Unknown(),
          errors: ["range_not_satisfiable"],
          requestHeaders: ["Range", "If-Range", "If-None-Match"],
          responseHeaders: ["ETag", "Accept-Ranges", "Content-Range", "Content-Disposition"],
          also: { 206: "The range that was asked for.", 304: "The content is the same." },
        },
        params,
      },
    )
    .get(
      "/:id/pages/:number",
      ({ principal, params, request }) => pagePicture({ files, pageImages, viewer: principal, ...params, request }),
      {
        operation: {
          id: "files.pages.retrieve",
          summary: "Show a page of a PDF as a JPEG",
          needs: "read_or_run",
          path: { number: pageNumber },
          media: ["image/jpeg"],
          returns: Type.Unknown(),
          errors: ["page_not_drawn"],
          requestHeaders: ["If-None-Match"],
          responseHeaders: ["ETag"],
          also: { 304: "The page is the same." },
        },
        params: pathWith({ id: params.properties.id, number: Type.String() }),
      },
    )
    .get(
      "/:id/chunks",
      ({ principal, params, request }) => {
        const { starting_after, limit } = readPage(request.url);
        return files.chunks(principal, params.id, starting_after, limit);
      },
      {
        operation: {
          id: "files.chunks.list",
          summary: "List the chunks of a document's text, in their order",
          needs: "read_or_run",
          query: forwardQuery,
          returns: listOf(FileChunk),
        },
        params,
      },
    )
    .post("/:id/retry", ({ principal, params }) => files.retry(principal, params.id), {
      operation: {
        id: "files.retry",
        summary: "Process a failed file again",
        needs: "run",
        returns: File,
        errors: ["file_not_failed"],
      },
      params,
      body: EmptyBody,
    })
    .delete("/:id", ({ principal, params }) => files.remove(principal, params.id), {
      operation: {
        id: "files.delete",
        summary: "Delete a file",
        needs: "admin",
        returns: Deleted,
      },
      params,
    });
