import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { Deleted, listOf } from "../../domain/api-types/schema.ts";
import { Skill, SkillVersion, SkillVersionListItem } from "../../domain/api-types/skill.ts";
import { missingParameter } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { Auth } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { forwardQuery, listQuery, readPage } from "../../http/page.ts";
import type { Principal } from "../../http/principal.ts";
import { idOf, JsonObject, pathOf, pathWith } from "../../http/schemas.ts";
import { mimeTypeOf } from "../../lib/mime-type.ts";
import { about } from "../../lib/schema.ts";
import type { StoredContent } from "../../storage/db/file-blobs.ts";
import type { ArchiveReceiver } from "./receive-archive.ts";
import { CreateSkillInParts, contentQuery } from "./schema.ts";
import type { SkillService } from "./service.ts";
import type { SkillStore } from "./store.ts";

const params = pathOf("skill");
const versionNumber = Type.String({ pattern: "^[1-9]\\d{0,14}$" });
const versionParams = pathWith({
  id: about("The id.", idOf("skill")),
  version: about("The number of the version.", versionNumber),
});

interface Needs {
  auth: Auth;
  skills: SkillStore;
  service: SkillService;
  receiver: ArchiveReceiver;
  /** Returns a file's content as a download. */
  download(order: {
    request: Request;
    headers: Record<string, unknown>;
    file: { filename: string; mime_type: string };
    content: StoredContent;
  }): Response;
}

export const skillRoutes = ({ auth, skills, service, receiver, download }: Needs) =>
  new Elysia({ prefix: "/skills", tags: ["Skills"] })
    .use(auth)
    .post(
      "/",
      async ({ principal, body, request, status }) => {
        const archive = receiver.take(request, body);
        const { skill, isNew } = await service.create(principal, archive, request.signal);
        return isNew ? status(201, skill) : status(200, skill);
      },
      {
        operation: {
          id: "skills.create",
          summary: "Upload a skill, or a new version of it",
          needs: "admin",
          read: receiver.read,
          parts: CreateSkillInParts,
          binary: "application/zip",
          example: { content_base64: "UEsDBAoAAAAAAA==" },
          creates: Skill,
          also: { 200: "The newest version has the same files already." },
          errors: ["unsupported_media_type"],
        },
        body: JsonObject,
        afterResponse: ({ request }) => receiver.discard(request),
      },
    )
    .get("/", ({ principal, request }) => skills.list(principal, readPage(request.url)), {
      operation: {
        id: "skills.list",
        summary: "List skills",
        needs: "read",
        query: listQuery,
        returns: listOf(Skill),
      },
    })
    .get("/:id", ({ principal, params }) => skills.get(principal, params.id), {
      operation: {
        id: "skills.retrieve",
        summary: "Retrieve a skill, as its newest version has it",
        needs: "read",
        returns: Skill,
      },
      params,
    })
    .delete("/:id", ({ principal, params }) => service.remove(principal, params.id), {
      operation: {
        id: "skills.delete",
        summary: "Delete a skill with all its versions",
        needs: "admin",
        returns: Deleted,
      },
      params,
    })
    .get("/:id/versions", ({ principal, params, request }) => listVersions(skills, principal, params.id, request.url), {
      operation: {
        id: "skills.versions.list",
        summary: "List the versions of a skill, newest first",
        needs: "read",
        query: {
          limit: forwardQuery.limit,
          starting_after: about("A cursor: returns the items after it.", versionNumber),
        },
        returns: listOf(SkillVersionListItem),
      },
      params,
    })
    .get(
      "/:id/versions/:version",
      ({ principal, params }) => skills.version(principal, params.id, Number(params.version)),
      {
        operation: {
          id: "skills.versions.retrieve",
          summary: "Retrieve a version of a skill, with the list of its files",
          needs: "read",
          returns: SkillVersion,
        },
        params: versionParams,
      },
    )
    .get(
      "/:id/versions/:version/content",
      ({ principal, params, request, set }) => {
        skills.get(principal, params.id); // An unknown skill is a 404, whatever the query says.
        const { path } = readPage(request.url, contentQuery).filters;
        if (path === undefined) throw invalid("path", missingParameter, "required");
        const content = skills.content(principal, params.id, Number(params.version), path);
        const file = { filename: path.slice(path.lastIndexOf("/") + 1), mime_type: mimeTypeOf(path) };
        return download({ request, headers: set.headers, file, content });
      },
      {
        operation: {
          id: "skills.versions.content",
          summary: "Download a file of a version of a skill, or a range of it",
          needs: "read",
          query: contentQuery,
          media: ["application/octet-stream", "*/*"],
          returns: Type.Unknown(),
          errors: ["range_not_satisfiable"],
          requestHeaders: ["Range", "If-Range", "If-None-Match"],
          responseHeaders: ["ETag", "Accept-Ranges", "Content-Range", "Content-Disposition"],
          also: { 206: "The range that was asked for.", 304: "The content is the same." },
        },
        params: versionParams,
      },
    );

function listVersions(skills: SkillStore, principal: Principal, id: string, url: string) {
  const { version } = skills.get(principal, id);
  const { limit, starting_after } = readPage(url);
  if (starting_after === null) return skills.versions(principal, id, limit, Number.MAX_SAFE_INTEGER);
  if (!/^[1-9]\d{0,14}$/.test(starting_after)) throw invalid("starting_after", "Must be the number of a version.");
  const before = Number(starting_after);
  if (before > version) throw new AppError("invalid_cursor", "The cursor is not a version of this skill.");
  return skills.versions(principal, id, limit, before);
}
