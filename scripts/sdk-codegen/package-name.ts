/** Sources by path from the project's folder. */
type Texts = Record<string, string>;

// The packages called `runnel` on npm and PyPI belong to others. A text must never make a reader install or import
// them.
const name = String.raw`runnel(?![\w-])`;
const places: [RegExp, string][] = [
  [
    new RegExp(String.raw`(?:\bfrom\s*|\b(?:import|require|resolve)\s*\(\s*|\bimport\s+)\\?["'\x60]${name}(?!\.)`, "g"),
    "imports",
  ],
  [new RegExp(String.raw`\bfrom ${name}(?:\.\w+)* import\b`, "g"), "imports"],
  [new RegExp(String.raw`\bimport (?:\w+, )*${name}(?! of\b)`, "g"), "imports"],
  [new RegExp(String.raw`\bpython3? -m ${name}`, "g"), "imports"],
  [
    new RegExp(
      String.raw`\b(?:(?:npm|pnpm|yarn|bun|deno|uv|poetry|pipenv|conda)(?: pip)? (?:i|install|add)|pip3? install|pipx install|npx|bunx|uvx|dlx)\b(?: [^\s\x60"';&|]+)*? ["']?(?:npm:)?${name}(?![./:](?!\s|$))`,
      "gm",
    ),
    "installs",
  ],
  [
    new RegExp(String.raw`(?:\bnpm:|\besm\.sh/|\bunpkg\.com/|\bjsdelivr\.net/npm/|\bnode_modules/)${name}`, "g"),
    "imports",
  ],
  [/\brunnel-(?:\d+\.\d[\w.]*?|\$\{[\w.]*version\}|<version>)(?:\.tgz|\.js\b|-py3-)/g, "gives"],
];

/** Returns the places where a text imports, installs or names a package called like those of others. */
export function packageNameFaults(texts: Texts): string[] {
  return Object.entries(texts).flatMap(([path, text]) =>
    places.flatMap(([place, does]) =>
      [...text.matchAll(place)].map(([found]) => `${path} ${does} another's package: ${found}`),
    ),
  );
}
