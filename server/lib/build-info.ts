import manifest from "../../package.json" with { type: "json" };

// The build replaces these two names; a run from source has neither.
declare const BUILD_COMMIT: string | undefined;
declare const BUILD_DATE: string | undefined;

/** What `runnel version` says: which code this is and when it became an executable. */
export const build = {
  version: manifest.version,
  commit: typeof BUILD_COMMIT === "string" ? BUILD_COMMIT : "source",
  date: typeof BUILD_DATE === "string" ? BUILD_DATE : null,
} as const;
