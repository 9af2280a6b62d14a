import { AppError } from "../../domain/errors.ts";
import { nameOf } from "../../domain/scope.ts";
import { invalid } from "../../http/errors.ts";
import type { SkillReader } from "../../runtime/sandbox/skill-reader.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import type { SkillStore } from "./store.ts";

export type SkillService = ReturnType<typeof createSkillService>;

interface Needs {
  skills: SkillStore;
  reader: SkillReader;
  blobs: Pick<FileBlobs, "collectSoon">;
}

/** Uploads and deletions, which other parts of the server take part in. */
export function createSkillService({ skills, reader, blobs }: Needs) {
  return {
    /** Reads an archive in a process of its own and stores its skill. */
    async create(author: Author, archive: Uint8Array, signal: AbortSignal) {
      const outcome = await reader.read(archive, signal, nameOf(author));
      if ("skill" in outcome) return skills.put(author, outcome.skill);
      const { error, unavailable } = outcome;
      if (unavailable === "stopped") throw new AppError("shutting_down", "The server is stopping.", { retryAfter: 5 });
      if (unavailable) throw new AppError("unsupported_media_type", error);
      throw invalid("file", error);
    },

    async remove(author: Author, id: string) {
      const answer = await skills.remove(author, id);
      blobs.collectSoon();
      return answer;
    },
  };
}
