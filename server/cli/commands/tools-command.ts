import { Command } from "commander";
import { clientOptions } from "./client-options.ts";
import { option } from "./option.ts";
import type { ImportFlags } from "./tools.ts";

export function toolsCommand(): Command {
  const tools = new Command("tools").description("tools of the key's project and environment");
  const command = tools
    .command("import")
    .description("import the operations of an OpenAPI document as tools, or show what they become")
    .argument("<document>", "a file, or an https address that the server fetches")
    .addOption(
      option("--operations <names...>", "only these: operationIds, or methods and paths such as 'GET /pets/{id}'", {
        env: "RUNNEL_IMPORT_OPERATIONS",
      }),
    )
    .addOption(
      option("--tags <tags...>", "the operations of these tags, in addition to --operations", {
        env: "RUNNEL_IMPORT_TAGS",
      }),
    )
    .addOption(option("--dry-run", "show what would change, and change nothing", { env: "RUNNEL_IMPORT_DRY_RUN" }))
    .addOption(option("--server <address>", "the address of the API", { env: "RUNNEL_IMPORT_SERVER" }))
    .addOption(
      option(
        "--auth <pairs...>",
        "a security scheme of the document, and the secret or the OAuth client for it: token=GITHUB_TOKEN, login=oac_…",
        {
          env: "RUNNEL_IMPORT_AUTH",
        },
      ),
    )
    .addOption(option("--prefix <text>", "a text before the name of each new tool", { env: "RUNNEL_IMPORT_PREFIX" }))
    .addOption(
      option("--source <name>", "a name for the document, by which a later import finds these tools", {
        env: "RUNNEL_IMPORT_SOURCE",
      }),
    )
    .addOption(
      option("--sha256 <hash>", "import only if the document is still the one of this hash, which --dry-run prints", {
        env: "RUNNEL_IMPORT_SHA256",
      }),
    )
    .addHelpText(
      "after",
      `
Exits with 3 if --dry-run finds something to change. Examples:
  $ runnel tools import petstore.yaml --dry-run
  $ runnel tools import petstore.yaml --operations findPets 'GET /pets/{id}' --auth api_key=PETS_KEY`,
    )
    .action(
      async (document: string, flags: ImportFlags) => await (await import("./tools.ts")).importTools(document, flags),
    );
  for (const each of clientOptions()) command.addOption(each);
  return tools;
}
