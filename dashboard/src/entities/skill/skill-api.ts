import { queryOptions } from "@tanstack/react-query";
import type { Skill, SkillVersion } from "../../../../server/domain/api-types/skill.ts";
import { get, postFile, query, readApiError } from "../../lib/api.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";

export const skillApi = resource<Skill>("skills", ({ name }) => name);

/** A page of skills. */
export const skillsQuery = (at: WorkspaceKey, page: NamedSearch) => skillApi.page(at, page);

export const uploadSkill = (at: WorkspaceKey, archive: File): Promise<Skill> =>
  postFile(skillApi.url(at), archive, "application/octet-stream");

/** A version with the list of its files. */
export const versionQuery = (at: WorkspaceKey, id: string, version: number) =>
  queryOptions({
    queryKey: skillApi.key(at, "version", id, version),
    queryFn: ({ signal }) => get<SkillVersion>(skillApi.url(at, id, `/versions/${version}`), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Address of a file's content. */
export const skillFileUrl = (at: WorkspaceKey, id: string, version: number, path: string): string =>
  skillApi.url(at, id, `/versions/${version}/content${query({ path })}`);

/** The text of a file; null if it is no text. */
export const fileTextQuery = (at: WorkspaceKey, id: string, version: number, path: string) =>
  queryOptions({
    queryKey: skillApi.key(at, "file", id, version, path),
    queryFn: async ({ signal }): Promise<string | null> => {
      const response = await fetch(skillFileUrl(at, id, version, path), { signal });
      if (!response.ok) throw await readApiError(response);
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (bytes.includes(0)) return null;
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch {
        return null;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
