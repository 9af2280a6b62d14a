import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { npmWith } from "../scripts/npm-tool.ts";
import { pythonWith } from "../scripts/python-tool.ts";
import { inProject, root } from "../scripts/root.ts";
import { createAgent } from "./fixtures.ts";
import { type Runnel, runProgram, startRunnel } from "./harness.ts";

// Popular third-party clients, unmodified, as their pages show them; the list of clients names only those that a test
// runs.

interface Example {
  page: string;
  /** Package names in their registry, each with its version. */
  packages: string[];
  registry: "npm" | "pip";
  language: "javascript" | "py" | "sh";
  program: string;
}

const pageOf = (name: string): string => readFileSync(inProject("server/docs/connect", `${name}.md`), "utf8");

/** Returns the programs of a page: each stands below the command that installs its packages. */
const examplesOn = (page: string): Example[] =>
  [...pageOf(page).matchAll(/`(npm|pip) install ([^`]+)`:?(?:; [^\n]*)?\n\n```(javascript|py|sh)\n([\s\S]*?)```/g)].map(
    ([, registry, packages, language, program]) => ({
      page,
      packages: packages!.replaceAll("'", "").split(" "),
      registry: registry as Example["registry"],
      language: language as Example["language"],
      program: program!,
    }),
  );

// Packages of one page are compatible and installed together, except on `openai-more`.
const together = ["openai-python", "openai-javascript"];
const examples = ["openai-python", "openai-javascript", "openai-files", "openai-more"].flatMap(examplesOn);

const nameOf = ({ page, packages }: Example): string =>
  together.includes(page) ? page : packages[0]!.replaceAll(/[^\w.-]/g, "-");
const packagesFor = (example: Example): string[] =>
  together.includes(example.page)
    ? [...new Set(examples.filter(({ page }) => page === example.page).flatMap(({ packages }) => packages))]
    : example.packages;

/** Returns a command that runs the program, and the folder of its helpers; null if its packages are unavailable. */
async function commandFor(example: Example, folder: string): Promise<{ command: string[]; programs: string } | null> {
  const { registry, language, program } = example;
  mkdirSync(folder, { recursive: true });
  const file = { javascript: "program.mjs", py: "program.py", sh: "program.sh" }[language];
  writeFileSync(join(folder, file), program);
  const name = `clients-${nameOf(example)}`;
  if (registry === "npm") {
    const modules = await npmWith(name, packagesFor(example));
    if (modules) symlinkSync(modules, join(folder, "node_modules"));
    return modules ? { command: ["node", file], programs: "" } : null;
  }
  const programs = await pythonWith(name, packagesFor(example));
  if (!programs) return null;
  return { programs, command: language === "py" ? [join(programs, "python"), file] : ["bash", "-eu", file] };
}

/** Turns off telemetry, update checks and downloads. */
const quiet = {
  LITELLM_LOCAL_MODEL_COST_MAP: "True",
  CREWAI_DISABLE_TELEMETRY: "true",
  OTEL_SDK_DISABLED: "true",
  AIDER_ANALYTICS: "false",
  AIDER_CHECK_UPDATE: "false",
  AIDER_SHOW_MODEL_WARNINGS: "false",
  MASTRA_TELEMETRY_DISABLED: "1",
};

describe("a program for OpenAI's API", () => {
  let server: Runnel;
  let agent: string;
  const folder = mkdtempSync(join(tmpdir(), "runnel-clients-"));
  beforeAll(async () => {
    server = await startRunnel();
    agent = await createAgent(server, "test/echo");
    writeFileSync(join(folder, "ca.pem"), server.ca ?? "");
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await server[Symbol.asyncDispose]();
  });

  test.each(examples.map((example) => [`${example.page}: ${example.packages.join(" ")}`, example] as const))(
    "on the page %s gets its answer",
    async (name, example) => {
      const cwd = join(folder, String(Bun.hash(name)));
      const runnable = await commandFor(example, cwd);
      if (!runnable) return console.warn(`skipped: ${name} is not to be had`);
      const certificate = join(folder, "ca.pem");
      const { code, stdout, stderr } = await runProgram(
        runnable.command,
        cwd,
        {
          PATH: [runnable.programs, process.env.PATH].join(delimiter),
          HOME: cwd,
          AGENT: agent,
          ...quiet,
          RUNNEL_URL: server.url,
          RUNNEL_API_KEY: server.keys.test,
          NODE_EXTRA_CA_CERTS: certificate,
          SSL_CERT_FILE: certificate,
        },
        240_000,
      );
      expect({ code, errors: code === 0 ? "" : stderr.slice(-3000) }).toEqual({ code: 0, errors: "" });
      const answer = example.page === "openai-files" ? "A boat needs a licence." : "Hello!";
      expect(stdout.split("\n").map((line) => line.trim())).toContain(answer);
      // A program deletes everything that it creates.
      for (const path of ["/v1/memory", "/v1/files"]) expect((await server.get(path)).body.data).toEqual([]);
    },
    900_000,
  );
});

describe("the list of clients", () => {
  const rows = [
    ...pageOf("clients").matchAll(/^\| \[[^\]]+\]\(([\w./-]+?)(?:\.md)?(?:#[\w-]+)?\) \| `([^`]+)` ([\d.]+) \|/gm),
  ].map(([, page, name, version]) => ({ page: page!, name: name!, version: version! }));

  test("has at least fifteen", () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBeGreaterThanOrEqual(15);
  });

  test("has only clients that a test runs in the listed version", () => {
    const suites = [...new Bun.Glob("e2e/*.ts").scanSync({ cwd: root })]
      .filter((path) => path !== "e2e/clients.e2e.ts")
      .map((path) => readFileSync(inProject(path), "utf8"));
    const isRun = ({ page, name, version }: (typeof rows)[number]): boolean => {
      const hasIt = ({ packages }: Example) =>
        packages.some((one) => one.replace(/\[.*?\]/, "").replace("==", "@") === `${name}@${version}`);
      if (examples.some((example) => example.page === page && hasIt(example))) return true;
      const isShown = examplesOn(page).some(hasIt);
      const names = new RegExp(`["/]${page}[".]`);
      return suites.some(
        (suite) => (suite.includes(name) && suite.includes(version)) || (isShown && names.test(suite)),
      );
    };
    expect(rows.filter((row) => !isRun(row))).toEqual([]);
  });

  test("has each client that a page shows", () => {
    const listed = (page: string) => rows.filter((row) => row.page === page).map(({ name }) => name);
    const missing = examples.filter(
      ({ page, packages }) =>
        !packages.some((one) => listed(page).includes(one.replace(/(\[.*?\])?(==|(?<=.)@).*/, ""))),
    );
    expect(missing.map(({ packages }) => packages[0])).toEqual([]);
  });
});
