import { dirname, join } from "node:path";

/** Source by path from the project's folder. */
export type Files = Record<string, string>;

interface Import {
  from: string;
  /** A file of the project, or a package's name. */
  to: string;
  typeOnly: boolean;
  /** Imported names; "*" for all. */
  names: string[];
}

// A folder imports itself and the folders below it in this list.
const order = [
  "main.ts",
  "testing",
  "cli",
  "app.ts",
  "dashboard-api",
  "protocols",
  "services",
  "runs",
  "resources",
  "http",
  "runtime",
  "storage",
  "domain",
  "lib",
];
/** The same rule for the folders inside these. Where a folder is not listed its siblings import none of one another. */
const innerOrders: Record<string, string[][]> = {
  runtime: [
    ["agent-loop"],
    ["retrieval", "guardrails", "mcp"],
    ["models", "sandbox"],
    ["skills", "openapi", "oauth"],
    ["documents"],
  ],
  storage: [["journal"], ["db", "replication"]],
  domain: [["api-types"], ["*"]],
  resources: [],
  services: [],
};
const dashboardOrder = ["lib", "hooks", "ui", "entities", "features", "app", "main.tsx"];

const isTest = (path: string) => /\.test\.tsx?$/.test(path);
const isExempt = (path: string) => isTest(path) || path.startsWith("server/testing/");

/** Imports that go against the layers of the server or of the dashboard, as sentences. */
export function layerFaults(files: Files): string[] {
  return importsOf(files)
    .filter(({ from }) => !isExempt(from))
    .flatMap((edge) => {
      const fault = edge.from.startsWith("dashboard/") ? dashboardFault(edge) : serverFault(edge);
      return fault ? [`${edge.from} → ${edge.to}: ${fault}`] : [];
    });
}

function serverFault({ from, to, typeOnly }: Import): string | null {
  if (!from.startsWith("server/") && !from.startsWith("migrations/")) return null;
  if (to.startsWith("dashboard/") || to.startsWith("scripts/")) return "the server stands without it";
  if (!to.startsWith("server/") && !to.startsWith("migrations/")) return null;
  const [mine, theirs] = [levelOf(from), levelOf(to)];
  if (mine === -1) return `${from} is in no folder of the list`;
  if (theirs === -1) return `${to} is in no folder of the list`;
  if (mine === theirs)
    return typeOnly && isModuleOfResource(from) && isModuleOfResource(to) ? null : innerFault(from, to);
  return theirs > mine ? null : `${folderOf(to)} is not below ${folderOf(from)}`;
}

/** The name below `server/`; migrations belong to the domain. */
const folderOf = (path: string) => (path.startsWith("migrations/") ? "domain" : (path.split("/")[1] ?? ""));

const levelOf = (path: string) => order.indexOf(folderOf(path));

/** A resource's module names the types of the modules that it uses; its other files do not know its neighbours. */
const isModuleOfResource = (path: string) => /^server\/resources\/[\w-]+\/module\.ts$/.test(path);

/** Returns why a folder inside `runtime`, say, may not import its sibling; null if it may. */
function innerFault(from: string, to: string): string | null {
  const inner = innerOrders[folderOf(from)];
  if (!inner || from.startsWith("migrations/") || to.startsWith("migrations/")) return null;
  const [mine = "", theirs = ""] = [from, to].map((path) => path.split("/")[2]);
  if (mine === theirs) return null;
  const level = (name: string) => {
    const found = inner.findIndex((names) => names.includes(name));
    return found === -1 ? inner.findIndex((names) => names.includes("*")) : found;
  };
  const [above, below] = [level(mine), level(theirs)];
  if (above === below && inner[above]?.includes("*")) return null;
  return below > above && above !== -1 ? null : `${theirs} is not below ${mine} in ${folderOf(from)}`;
}

/** The domain is pure, but for the schemas of the API's types: they would bring their library into the browser. */
const isPureDomain = (path: string) => /^server\/domain\/(?!api-types\/(?!(enums|frames|run-view)\.ts$))/.test(path);
/** How JSON is read on both sides. */
const isJsonReading = (path: string) => path === "server/lib/exact-numbers.ts";

function dashboardFault({ from, to, typeOnly }: Import): string | null {
  if (isPureDomain(to) || isJsonReading(to)) return null;
  if (to.startsWith("server/")) {
    const isShape = /^server\/(domain\/api-types\/[\w-]+|[\w/-]+\/schema)\.ts$/.test(to);
    return typeOnly && isShape
      ? null
      : "only server/domain, and the types of server/domain/api-types and of a schema.ts";
  }
  if (!from.startsWith("dashboard/src/") || !to.startsWith("dashboard/src/")) return null;
  const [mine = "", feature] = from.split("/").slice(2);
  const [theirs = "", otherFeature] = to.split("/").slice(2);
  if (mine === "features" && theirs === "features") {
    return feature === otherFeature ? null : "a feature never imports another";
  }
  const [level, other] = [dashboardOrder.indexOf(mine), dashboardOrder.indexOf(theirs)];
  return other <= level || other === -1 ? null : `${theirs} is not below ${mine}`;
}

/** Files of the server and the dashboard whose folder stands in no layer, so that no rule would hold for them. */
export function strays(files: Files): string[] {
  return Object.keys(files).filter((path) => {
    const [top, name = "", part = ""] = path.split("/");
    if (top === "server") return levelOf(path) === -1;
    return top === "dashboard" && name === "src" && !dashboardOrder.includes(part);
  });
}

/** Query keys written out where they do not belong: who changes what a key stands for must find all of them in one place. */
export function queryKeyFaults(files: Files): string[] {
  return Object.entries(files).flatMap(([path, source]) =>
    path.startsWith("dashboard/src/") &&
    !path.startsWith("dashboard/src/entities/") &&
    /(\bqueryKey: |QueryData\()\[/.test(source)
      ? [`${path} writes a query key: take it from the query options of an entity`]
      : [],
  );
}

/** Files that import one another in a ring, for types too, each ring once. */
export function cycles(files: Files): string[] {
  const edges = Map.groupBy(importsOf(files), ({ from }) => from);
  const done = new Set<string>();
  const path: string[] = [];
  const found = new Set<string>();
  const visit = (file: string) => {
    if (path.includes(file)) found.add([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file) || path.includes(file)) return;
    path.push(file);
    for (const { to } of edges.get(file) ?? []) visit(to);
    path.pop();
    done.add(file);
  };
  for (const file of Object.keys(files)) visit(file);
  return [...found];
}

const reading = String.raw`\b(?:performance|Date)\.now\(\)`;
const span = String.raw`(?:${reading}\s*-\s*(?!\w+_ms\b)[A-Za-z_(]|-\s*${reading})`;
const spanTaken = new RegExp(String.raw`(\w+)(?:!?\.push\(|\s*[=:]\s)[^;=:]*?${span}`, "g");
const expectation = /\bexpect\([^;]*;/g;

/** Tests that expect something of how long it took by the clock: they fail on a machine that has other things to do. */
export function clockFaults(files: Files): string[] {
  return Object.entries(files).flatMap(([path, source]) => {
    if (!isTest(path) && !path.startsWith("e2e/")) return [];
    const names = [...source.matchAll(spanTaken)].map(([, name]) => name);
    const clock = new RegExp([span, ...names.map((name) => `\\b${name}\\b`)].join("|"));
    return [...source.matchAll(expectation)]
      .filter(([text]) => clock.test(text))
      .map(([text]) => `${path} looks at the clock: ${text.split("\n")[0]}`);
  });
}

/** Files under `server/` that neither the executable nor a test ever loads. */
export function deadFiles(files: Files, roots: string[]): string[] {
  const reached = reachedFrom(roots, importsOf(files));
  // Declarations of types are imported by nobody.
  const isCode = (path: string) => path.startsWith("server/") && !path.endsWith(".d.ts");
  return Object.keys(files).filter((path) => isCode(path) && !reached.has(path));
}

/** Files that would bring the library of schemas into the browser, which takes types, names and folds alone. */
export function schemasInBrowser(files: Files): string[] {
  const atRunTime = importsOf(files).filter(({ typeOnly }) => !typeOnly);
  const roots = Object.keys(files).filter((path) => path.startsWith("dashboard/src/") && !isTest(path));
  const loaded = reachedFrom(roots, atRunTime);
  return atRunTime.filter(({ from, to }) => to === "@sinclair/typebox" && loaded.has(from)).map(({ from }) => from);
}

function reachedFrom(roots: string[], imports: readonly Import[]): Set<string> {
  const edges = Map.groupBy(imports, ({ from }) => from);
  const reached = new Set<string>();
  const waiting = [...roots];
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    waiting.push(...(edges.get(file) ?? []).map(({ to }) => to));
  }
  return reached;
}

/** Packages in places where they may not be. */
export function packageFaults(files: Files): string[] {
  return importsOf(files).flatMap(({ from, to }) => {
    if (to === "undici") return [`${from} imports undici: Bun's own fetch is the only one`];
    if (to.startsWith("@modelcontextprotocol/") && !/^server\/(runtime\/mcp\/sdk\.ts$|testing\/)/.test(from))
      return [`${from} imports the MCP kit: only runtime/mcp/sdk.ts does, which is loaded late`];
    if (
      /^(quickjs-emscripten|@jitl\/|pyodide)/.test(to) &&
      from.startsWith("server/") &&
      !from.startsWith("server/runtime/sandbox/")
    )
      return [`${from} imports ${to}: the interpreters of programs run only in the sandbox's child`];
    if (isParser(to) && /^server\/(?!runtime\/documents\/|testing\/)/.test(from))
      return [`${from} imports ${to}: only server/runtime/documents has parsers`];
    if (
      /^server\/runtime\/documents\/(parse|count-tokens)/.test(to) &&
      !/^(server\/runtime\/(documents|sandbox)\/|scripts\/corpus\/read\.ts$)/.test(from)
    )
      return [`${from} imports ${to}: documents are parsed only in the sandbox's child`];
    if (to.startsWith("@tensorflow") && from !== "server/runtime/retrieval/embeddings/use-lite.ts")
      return [`${from} imports ${to}: the embedding model runs only in a thread of its own`];
    if (/^elysia(\/|$)/.test(to) && from.startsWith("server/") && !speaksElysia(from)) {
      return [`${from} imports Elysia: only routes.ts, http/, dashboard-api/, app.ts and testing/ know it`];
    }
    return [];
  });
}

const allColumns = /\bSELECT\s+(\w+\.)?\*/i;
const noColumns = /\bINSERT\s+(OR\s+\w+\s+)?INTO\s+[^\s(]+\s+(VALUES|SELECT)\b/i;

/**
 * Statements that the next new column changes or breaks. Tests may read all columns: one that looks for a secret must
 * look everywhere.
 */
export function columnFaults(files: Files): string[] {
  return Object.entries(files).flatMap(([path, source]) => [
    ...(allColumns.test(source) && !isExempt(path) && !path.startsWith("e2e/")
      ? [`${path} reads all columns: name them`]
      : []),
    ...(noColumns.test(source) && !path.startsWith("migrations/") ? [`${path} inserts without naming columns`] : []),
  ]);
}

const isParser = (name: string) => /^(unpdf|@mdream\/js|fflate|gpt-tokenizer|postal-mime|saxes)(\/|$)/.test(name);

const speaksElysia = (path: string) =>
  isTest(path) || /\/routes\.ts$|^server\/(http|dashboard-api|testing)\/|^server\/app\.ts$/.test(path);

// In pieces, so that this file is not its own finding.
const marks = new RegExp(`\\b(${["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"].join("|")})\\b`);
const focused = /\b(test|describe|it)\.(only|skip|todo)\b/;
const halted = /^\s*debugger\b/m;
// The command line writes by server/cli/commands/output.ts, which knows what to do when nobody reads.
const printed = /\bconsole\.log\(/;
const written = /\bprocess\.stdout\.write\(/;
// A test may hand such a line to a child process, and programs of newcomers print.
const mayPrint = /^scripts\/|^e2e\/newcomers\/|\.test\.tsx?$/;

/** Returns leftovers: marks of unfinished work, tests switched off, output for debugging. */
export function leftovers(files: Files): string[] {
  return Object.entries(files).flatMap(([path, source]) => {
    const rules: [string, RegExp][] = [
      ["a mark of unfinished work", marks],
      ["a focused or skipped test", focused],
      ["a breakpoint", halted],
    ];
    if (!mayPrint.test(path)) rules.push(["console.log", printed]);
    if (path.startsWith("server/") && !isTest(path)) rules.push(["output of its own", written]);
    return rules.filter(([, pattern]) => pattern.test(source)).map(([what]) => `${path} has ${what}`);
  });
}

/** Exported names that no other file imports. */
export function unusedExports(files: Files): string[] {
  const taken = new Set(importsOf(files).flatMap(({ to, names }) => names.map((name) => `${to} ${name}`)));
  return Object.entries(files).flatMap(([path, source]) =>
    // Recipes contain the text of other files.
    taken.has(`${path} *`) || path.startsWith("e2e/recipes/")
      ? []
      : exportsOf(source)
          .filter((name) => !taken.has(`${path} ${name}`))
          .map((name) => `${path} exports ${name}`),
  );
}

const declaration =
  /^export\s+(?:declare\s+|abstract\s+|async\s+)*(?:function\*?|const|let|class|interface|type|enum)\s+([\w$]+)/gm;
const group = /^export\s+(?:type\s+|const\s+)?[{[]([^}\]]*)[}\]]/gm;

function exportsOf(source: string): string[] {
  const groups = [...source.matchAll(group)].flatMap(([, list = ""]) => list.split(","));
  const grouped = groups.flatMap((item) => item.match(/[\w$]+(?=\s*$)/) ?? []);
  return [...[...source.matchAll(declaration)].map(([, name = ""]) => name), ...grouped];
}

const statement = /^\s*(?:import|export)\s+(type\s)?(?:([^"'`;=()]*?)\sfrom\s+)?"([^"]+)"/gm;
const dynamic = /\bimport\("([^"]+)"\)/g;

function importsOf(files: Files): Import[] {
  return Object.entries(files).flatMap(([from, source]) => {
    const resolve = (to: string) => (to.startsWith(".") ? join(dirname(from), to) : to);
    const stated = [...source.matchAll(statement)].map(([, type, clause = "", to = ""]) => ({
      from,
      to: resolve(to),
      typeOnly: type !== undefined,
      names: clause.includes("*") ? ["*"] : namesOf(clause),
    }));
    // Names of a module that is loaded at run time can stand anywhere in the file.
    const loaded = [...source.matchAll(dynamic)].map(([, to = ""]) => ({
      from,
      to: resolve(to),
      typeOnly: false,
      names: source.match(/[\w$]+/g) ?? [],
    }));
    return [...stated, ...loaded];
  });
}

/** Of `{ a, b as c, type D }` the names as the other file has them: a, b and D. */
const namesOf = (clause: string) =>
  clause.split(/[{},]/).flatMap((item) => /^\s*(?:type\s+)?([\w$]+)/.exec(item)?.[1] ?? []);

const shape = /^(?:export )?(?:interface|type) (\w+)[^\n{]*\{\n(.*?)^\}/gms;

/** Types of the dashboard that spell out fields of the wire by themselves: two or more with an underscore. */
export function retypedShapes(files: Files): string[] {
  return Object.entries(files).flatMap(([path, source]) =>
    path.startsWith("dashboard/src/") && !isTest(path)
      ? [...source.matchAll(shape)].flatMap(([, name, body = ""]) =>
          (body.match(/^ {2}\w+_\w+\??:/gm) ?? []).length > 1 ? [`${path} ${name}`] : [],
        )
      : [],
  );
}
