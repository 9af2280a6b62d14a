import manifest from "../../package.json" with { type: "json" };

// The build replaces these names; a run from source has none.
declare const BUILD_COMMIT: string | undefined;
declare const BUILD_DATE: string | undefined;
declare const BUILD_LEAN: boolean | undefined;

/** Build of this code, as `runnel version` prints it. */
export const build = {
  version: manifest.version,
  commit: typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "source",
  date: typeof BUILD_DATE === "string" ? BUILD_DATE : null,
  /** True in a build without Python and without an embedding model. */
  lean: typeof BUILD_LEAN === "boolean" && BUILD_LEAN,
} as const;
