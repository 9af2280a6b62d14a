import { Type } from "@sinclair/typebox";
import { about } from "../../lib/schema.ts";

/** Multipart form of an upload. */
export const CreateSkillInParts = Type.Object({
  file: about("The archive: a zip, a tar or a tar.gz.", Type.String({ contentMediaType: "application/octet-stream" })),
});

/** Query parameters of a file's content. */
export const contentQuery = {
  path: about("The path of the file in the skill's folder.", Type.String({ minLength: 1, maxLength: 512 })),
};
