import { Command } from "commander";
import type { DoctorFlags } from "./doctor.ts";
import { dataDirOption, jsonOption } from "./option.ts";

export const doctorCommand = (): Command =>
  new Command("doctor")
    .description(
      "check the data directory, the database, the disk, the limit of open files, the certificate, the models' connections, the sandbox and the embedding model",
    )
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExits with 1 when something is broken. Calls no provider.")
    .action(async (flags: DoctorFlags) => await (await import("./doctor.ts")).doctor(flags));
