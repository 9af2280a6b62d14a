import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns SPDX's text of a licence for a package without its own, with a copyright line. An expression may name
 * several, `MIT OR Apache`. Returns null if none of them is known here. The Apache License is the product's own, and at
 * the beginning of the file with all texts.
 */
export function standardText(license: string, holder: string): string | null {
  const ids = license.match(/[A-Z][\w.-]*/gi) ?? [];
  const texts = ids.flatMap((id) => {
    if (/^Apache(-2\.0)?$/.test(id))
      return ["Its Apache License, version 2.0, is the text at the beginning of this file."];
    const path = join(import.meta.dir, "license-texts", `${id}.txt`);
    return existsSync(path) ? [readFileSync(path, "utf8").trim()] : [];
  });
  return texts.length > 0 ? [`Copyright (c) ${holder}`, ...texts].join("\n\n") : null;
}
