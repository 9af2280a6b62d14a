import { dataPythonDir } from "../../lib/assets.ts";
import type { ChildLanguage } from "./languages.ts";
import { packageModules } from "./package-modules.ts";
import type { Program } from "./program.ts";
import { areFromPackages } from "./saved-variables.ts";
import type { SystemPython } from "./system-python.ts";

const names = packageModules.join("|");
const importing = new RegExp(
  // `import os, numpy as np`, `from pandas import …`, and a name as a text, as for `importlib.import_module`.
  String.raw`^[^#\n]*\b(?:import|from)\b[^#\n]*\b(?:${names})\b|["'](?:${names})(?:\.[\w.]*)?["']`,
  "m",
);

/** True if the Python source seems to import a package; a wrong guess costs some time and memory only. */
export const importsPackage = (source: string): boolean => importing.test(source);

/**
 * Returns the language of the child for a program. `python`: the operator's interpreter, if there is one. The built-in
 * interpreter with packages needs more time to start and more memory, so that only programs run in it that import one, or
 * that continue with the variables of such a program.
 */
export function childLanguageOf(
  { language, code, shared }: Pick<Program, "language" | "code" | "shared">,
  python: SystemPython | null = null,
): ChildLanguage {
  if (language === "python" && python !== null) return "system-python";
  const variables = shared?.variables ?? null;
  const needsPackages = importsPackage(code) || (variables !== null && areFromPackages(variables));
  return language === "python" && needsPackages && dataPythonDir() !== null ? "data-python" : language;
}
