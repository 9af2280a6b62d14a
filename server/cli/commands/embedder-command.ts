import { Command } from "commander";
import type { AddFlags } from "../serve/embedder.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";

export function embedderCommand(): Command {
  const embedder = new Command("embedder").description("embedding models of your own, which memory stores use");
  embedder
    .command("add")
    .description("add a model: checked, copied, and there for new stores at once")
    .argument("<folder>", "has model.onnx (in one file) and tokenizer.json")
    .addOption(option("--name <name>", "default: the folder's", { env: "RUNNEL_EMBEDDER_NAME" }))
    .addOption(
      option("--window-tokens <count>", "how many tokens it reads at once", {
        env: "RUNNEL_EMBEDDER_WINDOW_TOKENS",
        default: "256",
      }),
    )
    .addOption(
      option("--prefix <text>", "set before each text, as `passage: ` for E5", {
        env: "RUNNEL_EMBEDDER_PREFIX",
        default: "",
      }),
    )
    .addOption(
      option("--query-prefix <text>", "the same before a question, as `query: ` (default: --prefix)", {
        env: "RUNNEL_EMBEDDER_QUERY_PREFIX",
      }),
    )
    .action(async (folder: string, flags: AddFlags) => await (await import("../serve/embedder.ts")).add(folder, flags));
  embedder
    .command("list")
    .description("list the models that need no provider")
    .action(async (flags: DataFlags) => (await import("../serve/embedder.ts")).list(flags));
  embedder
    .command("remove")
    .description("remove a model; stores that use it find by keyword only")
    .argument("<name>", "as `embedder list` shows it")
    .action(async (name: string, flags: DataFlags) => (await import("../serve/embedder.ts")).remove(name, flags));
  addDataOptions(...embedder.commands);
  return embedder;
}
