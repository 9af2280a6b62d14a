import { Command } from "commander";
import type { User } from "../../dashboard-api/accounts.ts";
import { type Role, roles } from "../../domain/api-types/enums.ts";
import { cliActor } from "./actor.ts";
import { askPassword, canAsk } from "./ask.ts";
import { usageError } from "./exit-code.ts";
import { type DataFlags, dataDirOption, jsonOption, option } from "./option.ts";
import { print } from "./print.ts";
import { withStores } from "./with-stores.ts";

interface AccountOptions extends DataFlags {
  password?: string;
  role?: Role;
}

export function adminCommand(): Command {
  const admin = new Command("admin").description("dashboard accounts");
  const account = (name: string) =>
    admin
      .command(name)
      .argument("<email>", "the address with which the person signs in")
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
    .command("remove-second-factor")
    .description("take an account's authenticator app, recovery codes and passkeys away, and end its sessions")
    .argument("<email>", "the address of the account")
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .action(removeSecondFactor);
  admin
    .command("setup-link")
    .description("print a new one-time link that makes the first account; older ones are void")
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .action(printSetupLink);
  return admin;
}

async function withAccount(
  email: string,
  { dataDir, json, role, ...flags }: AccountOptions,
  action: "create" | "resetPassword",
  outcome: string,
): Promise<void> {
  const password = flags.password ?? (await newPassword());
  const user: User = await withStores(dataDir, true, ({ accounts }) =>
    accounts()[action]({ email, password, role }, cliActor),
  );
  print(json, user, () => `${user.email} ${outcome}.`);
}

async function removeSecondFactor(email: string, { dataDir, json }: DataFlags): Promise<void> {
  const removed = await withStores(dataDir, true, ({ removeFactors }) => removeFactors(email, cliActor()));
  const app = removed.totp ? "an authenticator app" : "no authenticator app";
  print(
    json,
    removed,
    () => `${removed.email} had ${app} and ${removed.passkeys} passkeys. They are gone; the password is enough.`,
  );
}

async function newPassword(): Promise<string> {
  if (!canAsk()) throw usageError("Give the password by RUNNEL_PASSWORD.");
  const password = await askPassword("Password (12 characters or more): ");
  if ((await askPassword("Once more: ")) !== password) throw usageError("The two passwords differ.");
  return password;
}

async function printSetupLink({ dataDir, json }: DataFlags): Promise<void> {
  const { setupLink } = await import("../../dashboard-api/setup.ts");
  const { readServerFile } = await import("../../storage/db/server-file.ts");
  await withStores(dataDir, true, async (stores) => {
    const setup = stores.setup();
    if (!setup.required())
      throw usageError(
        'There is an account already. "runnel admin create" adds another one, "reset-password" helps out.',
      );
    const server = readServerFile(stores.dir.serverFile);
    const address = server?.links ?? server?.address ?? "https://127.0.0.1:8443";
    const setup_link = setupLink(address, await setup.issue(cliActor()));
    print(json, { setup_link }, () => setup_link);
  });
}
