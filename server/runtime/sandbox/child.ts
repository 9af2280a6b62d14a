import { type ChildOrder, childStages, selfTestCommand } from "./child-order.ts";
import { languages } from "./languages.ts";
import { writeOutput } from "./pipes.ts";

const [stage, order = ""] = process.argv.slice(-2);

/**
 * Runs this process as a child of the sandbox if it was started as one, and returns true. Nothing else is loaded
 * before.
 */
export async function enterChild(): Promise<boolean> {
  if (process.argv.at(-1) === selfTestCommand) {
    const { jailFaults } = await import("./self-test.ts");
    writeOutput(new TextEncoder().encode(JSON.stringify(await jailFaults())));
    return true;
  }
  if (!Object.values<string | undefined>(childStages).includes(stage)) return false;
  const childOrder: ChildOrder = JSON.parse(order);
  if (stage === childStages.jail) {
    const { enterJail } = await import("./enter-jail.ts");
    enterJail(childOrder);
  }
  if (stage === childStages.bare) {
    const { boundProcess } = await import("./jail.ts");
    boundProcess(languages[childOrder.language], childOrder.parent);
  }
  const { serveChild } = await import("./serve-child.ts");
  const { dropPrivilegesOf, keepPrivileges } = await import("./drop-privileges.ts");
  await serveChild[childOrder.language](
    stage === childStages.run ? dropPrivilegesOf(childOrder.parent) : keepPrivileges,
    childOrder,
  );
  return true;
}

// Used when run from source; the executable starts `main.ts`.
if (import.meta.main) await enterChild();
