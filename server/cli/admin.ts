import { Command } from "commander";
import type { User } from "../console/accounts.ts";
import { type Role, roles } from "../wire/names.ts";
import { cliActor } from "./actor.ts";
import { askPassword, canAsk } from "./ask.ts";
import { usageError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option } from "./option.ts";
import { print } from "./print.ts";

interface Options {
  dataDir: string;
  json?: boolean;
}

interface AccountOptions extends Options {
  password?: string;
  role?: Role;
}

export function adminCommand(): Command {
  const admin = new Command("admin").description("dashboard accounts");
  const account = (name: string) =>
    admin
      .command(name)
      .argument("<email>")
      .addOption(
        option(
          "--password <text>",
          "asked for when it is not given; the variable keeps it out of the list of processes",
        ),
      )
      .addOption(dataDirOption())
      .addOption(jsonOption());
  account("create")
    .description("make a dashboard account")
    .addOption(option("--role <role>", "what it may do", { choices: roles, default: "owner" }))
    .addHelpText("after", "\nExample:\n  $ RUNNEL_PASSWORD='…' runnel admin create ada@example.com")
    .action((email: string, options: AccountOptions) => withAccount(email, options, "create", "can sign in now"));
  account("reset-password")
    .description("change a password and end the account's sessions")
    .action((email: string, options: AccountOptions) =>
      withAccount(email, options, "resetPassword", "has the new password; its sessions are ended"),
    );
  admin
    .command("setup-link")
    .description("print a new one-time link that makes the first account; older ones are void")
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .action(printSetupLink);
  return admin;
}

type Accounts = import("../console/accounts.ts").Accounts;
type Setup = import("../console/setup.ts").Setup;
type DataDir = import("../db/data-dir.ts").DataDir;

async function openAccounts<T>(
  dataDir: string,
  work: (stores: { accounts: Accounts; setup: Setup; dir: DataDir }) => Promise<T>,
): Promise<T> {
  const { withData } = await import("./open-data.ts");
  const { createAccounts } = await import("../console/accounts.ts");
  const { createLoginThrottle } = await import("../console/login-throttle.ts");
  const { createAudit } = await import("../db/audit.ts");
  const { createPasswords } = await import("../console/password.ts");
  const { createSetup } = await import("../console/setup.ts");
  return await withData(dataDir, { create: true }, ({ db, dir }) => {
    const audit = createAudit({ db });
    const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle: createLoginThrottle() });
    return work({ accounts, setup: createSetup({ db, audit, accounts }), dir });
  });
}

async function withAccount(
  email: string,
  { dataDir, json, role, ...given }: AccountOptions,
  action: "create" | "resetPassword",
  done: string,
): Promise<void> {
  const password = given.password ?? (await newPassword());
  const user: User = await openAccounts(dataDir, ({ accounts }) =>
    accounts[action]({ email, password, role }, cliActor),
  );
  print(json, user, () => `${user.email} ${done}.`);
}

async function newPassword(): Promise<string> {
  if (!canAsk()) throw usageError("Give the password by RUNNEL_PASSWORD.");
  const password = await askPassword("Password (12 characters or more): ");
  if ((await askPassword("Once more: ")) !== password) throw usageError("The two passwords differ.");
  return password;
}

async function printSetupLink({ dataDir, json }: Options): Promise<void> {
  const { setupLink } = await import("../console/setup.ts");
  const { readServerFile } = await import("./server-file.ts");
  await openAccounts(dataDir, async ({ setup, dir }) => {
    if (!setup.required())
      throw usageError(
        'There is an account already. "runnel admin create" adds another one, "reset-password" helps out.',
      );
    const address = readServerFile(dir.serverFile)?.address ?? "https://127.0.0.1:8443";
    const setup_link = setupLink(address, await setup.issue(cliActor()));
    print(json, { setup_link }, () => setup_link);
  });
}
