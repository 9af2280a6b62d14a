import { rerunFailed, runBun } from "./test-runner.ts";

// Arguments choose tests and set flags of `bun test`: `npm test -- server/runs -t budget`.
const flags = ["--timeout=60000"];
const firstFlags = ["--parallel=3", ...process.argv.slice(2)];
process.exitCode = await rerunFailed([await runBun("test", { flags, firstFlags })]);
