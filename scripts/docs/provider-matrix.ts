import type { MatrixEntry } from "../../server/testing/provider-matrix/entry.ts";

/** Result of one behaviour: it works, it does not, or the provider's API has no such thing. */
export type Mark = "works" | "fails" | "not offered";

interface MatrixRow {
  entry: Pick<MatrixEntry, "name" | "source">;
  marks: readonly Mark[];
}

/** Runs of `scripts/real-model.ts` against a server with a model: what it tried, and what it could not. */
const realServers = [
  {
    server: "llama.cpp, `llama-server` of commit 0c1e570, from the sources of `llama-cpp-python` 0.3.36",
    model: "SmolLM2-135M-Instruct, Q4_1",
    date: "2026-11-29",
    tried: "text, structured output, overflow, a refused image, cancel, usage, the list of models",
    not: "tools, reasoning, images and PDFs: beyond this small model",
  },
];

const signs: Record<Mark, string> = { works: "✓", fails: "✗", "not offered": "–" };

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** Returns the page with the matrix: a row for each provider, a column for each behaviour. */
export function matrixPage(behaviours: readonly { name: string; title: string }[], rows: readonly MatrixRow[]): string {
  const names = behaviours.map(({ name }) => name);
  return `# What each provider was tried with

See which behaviours of each provider are tested, and in which format.

Each cell is a test over HTTP: a server on this machine sends the provider's documented format byte by byte, and the test compares
every request with a recorded one. No cell was tried at the provider itself; [real servers](#real-servers) are below.

- ✓ works
- – the provider's API has no such thing
- ✗ does not work

${line(["Provider", ...names])}
${line(["---", ...names.map(() => ":-:")])}
${rows.map(({ entry, marks }) => line([entry.name, ...marks.map((mark) => signs[mark])])).join("\n")}

## Real servers

\`scripts/real-model.ts\` runs the executable against a server with a model.

${line(["Server", "Model", "Date", "Tried and works", "Not tried"])}
${line(["---", "---", "---", "---", "---"])}
${realServers.map(({ server, model, date, tried, not }) => line([server, model, date, tried, not])).join("\n")}

## The behaviours

${line(["Behaviour", "The model"])}
${line(["---", "---"])}
${behaviours.map(({ name, title }) => line([name, title])).join("\n")}

## The formats

${line(["Provider", "Documentation of its format"])}
${line(["---", "---"])}
${rows.map(({ entry }) => line([entry.name, `\`${entry.source}\``])).join("\n")}

## Next

- [Models by provider](../start/providers.md): how to connect each one.
- [Models and prices](../operate/models-and-prices.md): what a server does not take.
`;
}
