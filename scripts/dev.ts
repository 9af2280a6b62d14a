import { createServer } from "vite";
import { replaceProcess } from "./process.ts";
import { pythonFiles } from "./python-files.ts";
import { inProject } from "./root.ts";

// The server from source, restarted at every change; the dashboard from Vite, which proxies to that server.
const port = 8443;
const target = { target: `https://localhost:${port}`, secure: false };
const dashboard = await createServer({
  root: inProject("dashboard"),
  server: { proxy: { "/v1": target, "/console": target } },
});
await dashboard.listen();
dashboard.printUrls();
await pythonFiles();

const server = [process.execPath, "--watch", "--no-clear-screen", inProject("server/main.ts"), "serve"];
process.exitCode = await replaceProcess([...server, "--port", String(port), ...process.argv.slice(2)]);
await dashboard.close();
