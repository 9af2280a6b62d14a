import { Type } from "@sinclair/typebox";
import { type CodeLanguage, codeLanguages } from "../../../domain/agent-snapshot.ts";
import { AppError, type Fault } from "../../../domain/errors.ts";
import { type WorkspaceChoice, workspaceChoices } from "../../../domain/workspace-limits.ts";
import { fault } from "../../../http/errors.ts";
import { idOf } from "../../../http/schemas.ts";
import { dataPythonDir } from "../../../lib/assets.ts";
import { build } from "../../../lib/build-info.ts";
import * as t from "../../../lib/schema.ts";
import { noPython } from "../../../runtime/sandbox/sandbox.ts";
import type { SystemPython } from "../../../runtime/sandbox/system-python.ts";
import { parameterFaults, textParameter, timeoutField } from "./fields.ts";
import {
  type CodeDefinition,
  type Definition,
  type Known,
  requireSettings,
  type ToolInput,
  type ToolKind,
} from "./tool-kind.ts";

const sourceBytes_max = 256 * 1024;

export const fields = {
  language: t.about("What the program is written in: JavaScript or Python.", t.oneOf(codeLanguages)),
  source: t.about("The program; null: the model writes it.", t.orNull(Type.String({ maxLength: sourceBytes_max }))),
  timeout_ms: timeoutField,
  memory_mb: t.about(
    "Megabytes that the program may use. JavaScript: 16 to 256, default 64. Python: 128 to 1024, default 256.",
    Type.Integer({ minimum: 16, maximum: 1024 }),
  ),
  files: t.about("Ids of files that the program reads.", Type.Array(idOf("file"), { maxItems: 20, uniqueItems: true })),
  workspace: t.about(
    "Programs that share the folder `/workspace` and, in Python, their variables: those of the run, of all runs of its thread, or none. Default: `run`.",
    t.oneOf(workspaceChoices),
  ),
};
export const response = {
  language: t.oneOf(codeLanguages),
  source: t.orNull(t.text),
  timeout_ms: t.integer,
  memory_mb: t.integer,
  files: t.list(t.text),
  workspace: t.about(
    "Programs that share the folder `/workspace`: those of the run, of all runs of its thread, or none.",
    t.oneOf(workspaceChoices),
  ),
};

/** A program in the sandbox: the tool's own function, or code that the model writes. */
export const kind: ToolKind = {
  fields,
  response,
  faults: (input, before, known) => [...codeFaults(input, before, known), ...parameterFaults(input)],
  change: (input, before) => ({ code: change(input, before?.code) }),
  show: ({ code }) => ({ ...code, workspace: code?.workspace ?? "run" }),
  // Idempotent, because a program has no effects outside of the sandbox.
  snapshot: (base, { code }) => {
    const { files, workspace = "run", ...rest } = requireSettings(code);
    return { ...base, type: "code", idempotent: true, http: null, code: { ...rest, file_ids: files, workspace } };
  },
  fixedParameters: ({ code }) => {
    const { source, language } = requireSettings(code);
    return source === null
      ? textParameter("code", `${languageNames[language]} code; the value of its last expression is the result.`)
      : undefined;
  },
  modelReads: ({ description, code }, python) => {
    const { source, language, workspace = "run" } = requireSettings(code);
    if (source !== null) return description;
    // Tells the model which Python modules exist, and what stays for the next program.
    const texts = [description, language === "python" ? pythonHas(python, workspace) : scriptHas[workspace]];
    return texts.filter((text) => text !== "").join("\n\n");
  },
};

const languageNames: Record<CodeLanguage, string> = { javascript: "JavaScript", python: "Python" };

const stays = "Files and variables stay for the next program";
const theFolder = "The current folder is /workspace (also /mnt/data), with the files that were given.";
const pythonKeeps: Record<WorkspaceChoice, string> = {
  run: `${theFolder} ${stays} of this run; open files, connections and generators do not.`,
  thread: `${theFolder} ${stays}, also of later runs of this conversation; open files, connections and generators do not.`,
  none: "Files that are left in /output, the current folder, are kept; /mnt/data is the same folder. Nothing stays for the next call.",
};

const folderApi =
  "Files: workspace.names(), workspace.text(path), workspace.bytes(path), workspace.write(path, textOrBytes), workspace.remove(path).";
const scriptHas: Record<WorkspaceChoice, string> = {
  run: `${folderApi} They stay for the next program of this run; variables do not.`,
  thread: `${folderApi} They stay for the next program, also of later runs of this conversation; variables do not.`,
  none: "",
};

const withoutPackages = "and no other package: there is nothing to install from.";
const withPackages = [
  "and numpy, pandas, scipy, scikit-learn, statsmodels, matplotlib, seaborn, openpyxl, xlsxwriter, Pillow, lxml,",
  "beautifulsoup4, pypdf, sympy, networkx, PyYAML and tabulate; there is nothing to install more from.",
  "Save charts with savefig as .png or .svg.",
].join(" ");

function packagesOf(python: SystemPython | null): string {
  if (python !== null) return `and what is installed with it: ${python.packages.join(", ") || "no package"}.`;
  return dataPythonDir() === null ? withoutPackages : withPackages;
}

/** Tells the model of Python's modules and folders, and of what stays for the next program. */
const pythonHas = (python: SystemPython | null, workspace: WorkspaceChoice): string =>
  [
    `Python${python === null ? "" : ` ${python.version}`} with its standard library (time zones too),`,
    packagesOf(python),
    "No network, no threads, no other programs. Files that were given are in /input, to be read only.",
    "The value of the last expression and what was printed come back.",
    pythonKeeps[workspace],
  ].join(" ");

interface Bounds {
  least: number;
  most: number;
  usual: number;
}

/** Limits of programs by language. Python's interpreter alone needs more than a whole JavaScript program. */
const codeBounds: Record<CodeLanguage, Record<"timeout_ms" | "memory_mb", Bounds>> = {
  javascript: {
    timeout_ms: { least: 100, most: 30_000, usual: 5000 },
    memory_mb: { least: 16, most: 256, usual: 64 },
  },
  python: {
    timeout_ms: { least: 1000, most: 60_000, usual: 5000 },
    memory_mb: { least: 128, most: 1024, usual: 256 },
  },
};

const isWithin = ({ least, most }: Bounds, value: number): boolean => value >= least && value <= most;

/** When the language changes, limits outside of its bounds are replaced by its defaults. */
function change(input: ToolInput, before: CodeDefinition | undefined): CodeDefinition {
  const language = input.language ?? before?.language ?? "javascript";
  const limitOf = (name: "timeout_ms" | "memory_mb"): number => {
    const bounds = codeBounds[language][name];
    const previous = before?.[name] ?? bounds.usual;
    return input[name] ?? (isWithin(bounds, previous) ? previous : bounds.usual);
  };
  return {
    language,
    source: input.source === undefined ? (before?.source ?? null) : input.source,
    timeout_ms: limitOf("timeout_ms"),
    memory_mb: limitOf("memory_mb"),
    files: input.files ?? before?.files ?? [],
    workspace: input.workspace ?? before?.workspace ?? "run",
  };
}

/** Faults of a code tool. Syntax is checked by its first call, because untrusted code is parsed only in the sandbox. */
function codeFaults(input: ToolInput, before: Definition | null, known: Known): Fault[] {
  const language = input.language ?? before?.code?.language ?? "javascript";
  const source = input.source === undefined ? (before?.code?.source ?? null) : input.source;
  const faults = levelFaults(input, before === null, language, known);
  if (input.source != null && input.source.trim() === "")
    faults.push(fault("source", "Must be code, or null to let the model write it."));
  if (input.source != null && Buffer.byteLength(input.source) > sourceBytes_max)
    faults.push(fault("source", `Must have at most ${sourceBytes_max} bytes.`));
  const translated = before?.code && language !== before.code.language && input.source === undefined;
  if (translated && source !== null) faults.push(fault("source", "A new language requires a new source.", "required"));
  if (input.parameters && source === null)
    faults.push(fault("parameters", "Without a source, the model writes the code and the only parameter is code."));
  for (const name of ["timeout_ms", "memory_mb"] as const) {
    const bounds = codeBounds[language][name];
    if (input[name] !== undefined && !isWithin(bounds, input[name]))
      faults.push(fault(name, `Must be from ${bounds.least} to ${bounds.most} for ${language}.`));
  }
  return [...faults, ...fileFaults(input.files ?? [], known)];
}

/** Checked only when a change affects execution, so that descriptions can be edited on every server. */
function levelFaults(input: ToolInput, isNew: boolean, language: string, { sandboxLevel: level }: Known): Fault[] {
  if (!isNew && input.language === undefined && input.source == null) return [];
  const param = input.language === undefined ? "type" : "language";
  if (level === "off") return [fault(param, "Code cannot run on this server: its sandbox is off.")];
  if (language === "python" && build.lean) return [fault("language", noPython)];
  if (language !== "python" || level === "strict") return [];
  const message = `Python runs only where the system enforces the sandbox; on this server its level is ${level}.`;
  return [fault("language", message)];
}

function fileFaults(ids: readonly string[], known: Known): Fault[] {
  try {
    const files = known.files(ids);
    // Files share one folder, so equal names would hide one of them.
    return files.flatMap(({ filename }, i) =>
      files.findIndex((file) => file.filename === filename) === i
        ? []
        : [fault(`files[${i}]`, `Another file of the tool is also named ${JSON.stringify(filename)}.`)],
    );
  } catch (error) {
    if (error instanceof AppError && error.errors) return error.errors;
    throw error;
  }
}
