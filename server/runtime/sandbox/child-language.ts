import { dataPythonDir } from "../../lib/assets.ts";
import type { ChildLanguage } from "./languages.ts";
import type { Program } from "./program.ts";
import type { SystemPython } from "./system-python.ts";

/** Modules of the interpreter with packages that the one without does not have. */
export const packageModules = [
  ...["numpy", "pandas", "scipy", "sklearn", "statsmodels", "matplotlib", "mpl_toolkits", "pylab", "seaborn"],
  ...["openpyxl", "xlsxwriter", "xlrd", "PIL", "lxml", "bs4", "html5lib", "pypdf", "reportlab", "fontTools"],
  ...["sympy", "mpmath", "networkx", "narwhals", "patsy", "formulaic", "joblib", "threadpoolctl", "cloudpickle"],
  ...["yaml", "tomli_w", "xmltodict", "defusedxml", "jinja2", "markupsafe", "tabulate", "tqdm", "regex"],
  ...["dateutil", "tzdata", "six", "attr", "attrs", "more_itertools", "toolz", "tlz", "typing_extensions", "wrapt"],
  ...["charset_normalizer", "webencodings", "soupsieve", "contourpy", "cycler", "kiwisolver", "pyparsing", "packaging"],
];

const names = packageModules.join("|");
const importing = new RegExp(
  // `import os, numpy as np`, `from pandas import …`, and a name as a text, as for `importlib.import_module`.
  String.raw`^[^#\n]*\b(?:import|from)\b[^#\n]*\b(?:${names})\b|["'](?:${names})(?:\.[\w.]*)?["']`,
  "m",
);

/** True if the Python source seems to import a package; a wrong guess costs some time and memory only. */
export const importsPackage = (source: string): boolean => importing.test(source);

/**
 * Returns the language of the child for a program. `python`: the operator's interpreter, if there is one. The built-in interpreter with packages needs more time to start and more
 * memory, so that only programs that import one run in it.
 */
export function childLanguageOf(
  { language, code }: Pick<Program, "language" | "code">,
  python: SystemPython | null = null,
): ChildLanguage {
  if (language === "python" && python !== null) return "system-python";
  return language === "python" && importsPackage(code) && dataPythonDir() !== null ? "data-python" : language;
}
