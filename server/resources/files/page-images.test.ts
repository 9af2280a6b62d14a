import { expect, test } from "bun:test";
import { createPageImages } from "./page-images.ts";

const scope = { project_id: "proj_1", environment: "test" as const };

/** Draws a PDF of three pages, whose images are its hash, project and page; the second page is damaged. */
function fixture(idle_ms?: number) {
  const drawn: string[] = [];
  const images = createPageImages({
    find: (_, id) => (id === "file_gone" ? null : { sha256: id }),
    blobs: {
      open: ({ project_id }, sha256) => ({
        sha256,
        bytes: 9,
        *read() {
          yield Buffer.from(`${project_id} ${sha256}`);
        },
      }),
    },
    reader: {
      async draw({ count, content }) {
        const name = Buffer.concat([...content]).toString();
        drawn.push(`${name} ${count}`);
        return [1, 2, 3]
          .slice(0, count)
          .map((page) => (page === 2 ? null : new TextEncoder().encode(`${name} ${page}`)));
      },
    },
    ...(idle_ms !== undefined && { idle_ms }),
  });
  return {
    drawn,
    stop: images.stop,
    of: (file_id: string, count: number, at = scope) => images.of(at, { file_id, count }),
  };
}

const text = (images: readonly (string | null)[] | null) =>
  images?.map((image) => image && Buffer.from(image, "base64").toString());

test("pages are drawn once for all calls that need them, also at the same time", async () => {
  const { drawn, of, stop } = fixture();
  const [all, some] = await Promise.all([of("file_a", 3), of("file_a", 1)]);
  expect(text(all)).toEqual(["proj_1 file_a 1", null, "proj_1 file_a 3"]);
  expect(text(some)).toEqual(["proj_1 file_a 1"]);
  expect(text(await of("file_a", 2))).toEqual(["proj_1 file_a 1", null]);
  expect(drawn).toEqual(["proj_1 file_a 3"]);
  stop();
});

test("more pages than were drawn are drawn anew, and another project's pages are its own", async () => {
  const { drawn, of, stop } = fixture();
  await of("file_a", 1);
  expect(await of("file_a", 3)).toHaveLength(3);
  expect(text(await of("file_a", 1, { ...scope, project_id: "proj_2" }))).toEqual(["proj_2 file_a 1"]);
  expect(drawn).toEqual(["proj_1 file_a 1", "proj_1 file_a 3", "proj_2 file_a 1"]);
  stop();
});

test("a deleted file has no pages, even if they were drawn before", async () => {
  const { drawn, of, stop } = fixture();
  expect(await of("file_gone", 3)).toBeNull();
  expect(drawn).toEqual([]);
  stop();
});
