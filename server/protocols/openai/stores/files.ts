import type { File } from "../../../domain/api-types/file.ts";
import { drainBody } from "../../../lib/drain-body.ts";
import { type ApiCalls, json } from "../api-calls.ts";
import { idIn, listOf, listQuery, seconds, wordIn } from "./lists.ts";
import { purposes, translatedUpload } from "./upload.ts";

const shownPurposes: Record<File["purpose"], string> = {
  retrieval: "assistants",
  attachment: "user_data",
  code_interpreter: "assistants",
  output: "assistants_output",
};
const shownStatuses: Record<File["status"], string> = {
  uploaded: "uploaded",
  processing: "uploaded",
  ready: "processed",
  failed: "error",
};

const shownFile = ({ id, bytes, created_at, expires_at, filename, purpose, status, error }: File) => ({
  id,
  object: "file",
  bytes,
  created_at: seconds(created_at),
  filename,
  purpose: shownPurposes[purpose],
  status: shownStatuses[status],
  status_details: error?.message ?? null,
  expires_at: expires_at === null ? null : seconds(expires_at),
});

/** Files of the API, under the same ids. */
export function createFiles({ must, pass }: ApiCalls) {
  async function upload(request: Request): Promise<Response> {
    try {
      const response = await pass(request, "POST", "/v1/files", translatedUpload(request));
      return json(200, shownFile((await response.json()) as File));
    } catch (error) {
      if (request.bodyUsed) await drainBody(request); // Many clients read the response only after sending everything.
      throw error;
    }
  }

  async function list(request: Request): Promise<Response> {
    const query = listQuery(request.url, {
      purpose: (value) => ({ purpose: wordIn(purposes, "purpose", value) }),
    });
    return json(200, listOf(await must(request, "GET", `/v1/files?${query}`), shownFile));
  }

  const pathOf = (id: string) => `/v1/files/${idIn("file", id)}`;

  return {
    upload,
    list,
    get: async (request: Request, id: string) => json(200, shownFile(await must(request, "GET", pathOf(id)))),
    content: (request: Request, id: string) => pass(request, "GET", `${pathOf(id)}/content`),
    async remove(request: Request, id: string): Promise<Response> {
      const { deleted } = await must(request, "DELETE", pathOf(id));
      return json(200, { id, object: "file", deleted });
    },
  };
}
