import type { Command } from "commander";
import { createProgram } from "../../server/cli/program.ts";
import { catalogue, runErrors } from "../../server/core/errors.ts";
import type { OpenApi } from "../clients/openapi.ts";
import { eventPages, operationPages } from "./operations.ts";
import { type Page, pageOf } from "./pages.ts";

/** The pages of the reference: made of what the server itself is made of, so that they cannot say anything else. */
export function referencePages(document: OpenApi): Page[] {
  return [...operationPages(document), ...eventPages(document), ...errorPages(), ...commandPages(createProgram())];
}

/** A page for each type of error, and one for the ends of runs. */
function errorPages(): Page[] {
  const byType = Map.groupBy(Object.entries(catalogue), ([, { type }]) => type);
  const pages = [...byType].map(([type, entries]) =>
    pageOf(
      `reference/errors/${type}`,
      `# ${type}\n\nErrors with \`"type": "${type}"\`.\n\n${entries.map(([code, { status, meaning }]) => `## ${code}\n\nStatus ${status}. ${meaning}\n`).join("\n")}`,
    ),
  );
  const ends = Object.entries(runErrors).map(([code, meaning]) => `## ${code}\n\n${meaning}\n`);
  const ofRuns = pageOf(
    "reference/errors/run_error",
    `# run_error\n\nWhy a run failed. It stands in the run's own \`error.code\`; the request that reads the run succeeds.\n\n${ends.join("\n")}`,
  );
  const list = [...pages, ofRuns].map(({ title }) => `- [${title}](${title}.md)`).join("\n");
  const index = pageOf(
    "reference/errors/index",
    `# Errors

Every error has the same shape: a \`code\` for programs, and a \`message\` for people, which may change.

\`\`\`json
{
  "error": {
    "type": "invalid_request_error",
    "code": "validation_failed",
    "message": "The request is not valid.",
    "param": "name",
    "doc_url": "https://127.0.0.1:8443/docs/reference/errors/invalid_request_error#validation_failed"
  },
  "request_id": "req_01k6w3v5r8d2f9h1j4m7n0p3qs"
}
\`\`\`

Give the \`request_id\` to the operator when you ask about an error.

${list}
`,
  );
  return [index, ...pages, ofRuns];
}

/** A page for each command, with the flags that it has. */
function commandPages(program: Command): Page[] {
  const leaves = (command: Command, typed: string): { command: Command; typed: string }[] =>
    command.commands.length === 0
      ? [{ command, typed }]
      : command.commands.flatMap((child) => leaves(child, `${typed} ${child.name()}`));
  const all = leaves(program, program.name());
  const pages = all.map(({ command, typed }) => {
    const options = command.options.filter(({ hidden }) => !hidden);
    const rows = options.map(
      ({ flags, description, defaultValue, envVar }) =>
        `| \`${flags}\` | ${envVar ? `\`${envVar}\`` : ""} | ${cell(description)}${defaultValue === undefined ? "" : ` Default: \`${defaultValue}\`.`} |`,
    );
    const table =
      rows.length > 0 ? `\n## Flags\n\n| Flag | Environment | What it does |\n|---|---|---|\n${rows.join("\n")}\n` : "";
    return pageOf(
      `reference/commands/${typed.split(" ").slice(1).join("-")}`,
      `# ${typed}\n\n${sentence(command.description())}\n\n\`\`\`bash\n${typed} ${command.usage()}\n\`\`\`\n${table}`,
    );
  });
  const list = all.map(
    ({ command, typed }) => `- [\`${typed}\`](${typed.split(" ").slice(1).join("-")}.md): ${command.description()}`,
  );
  const index = pageOf(
    "reference/commands/index",
    `# Command line\n\nEvery command of the executable. \`runnel <command> --help\` prints the same.\n\n${list.join("\n")}\n`,
  );
  return [index, ...pages];
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;
const cell = (text: string): string => sentence(text).replaceAll("|", "\\|");
