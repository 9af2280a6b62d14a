import { skillText, type TestEntry, tarGzOf, zipOf } from "./archives.ts";
import type { Client } from "./test-app.ts";

/** Returns the JSON body of an upload. */
export const archiveBody = (archive: Uint8Array): object => ({ content_base64: archive.toBase64() });

/** Uploads a skill with these files beside its `SKILL.md`. Returns the skill. */
export async function uploadSkill(client: Client, name: string, files: Record<string, string | Uint8Array> = {}) {
  const entries = Object.entries({ "SKILL.md": skillText(name), ...files });
  const archive = zipOf(entries.map(([path, content]): TestEntry => ({ path: `${name}/${path}`, content })));
  const { status, body } = await client.post("/v1/skills", archiveBody(archive));
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body;
}

/** The same skill as a tar.gz, with its files at the root. */
export const tarGzOfSkill = (name: string): Uint8Array<ArrayBuffer> =>
  tarGzOf([{ path: "SKILL.md", content: skillText(name) }]);
