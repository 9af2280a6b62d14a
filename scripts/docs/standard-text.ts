import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The text of a licence for what comes without one, as SPDX has it, with a line that says whose it is. An expression may
 * name several, `MIT OR Apache`. Null where none of them is known here. The Apache License is the product's own: it
 * stands at the beginning of the file that has all texts.
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
