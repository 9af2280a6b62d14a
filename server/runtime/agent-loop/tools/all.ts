export { run as agent } from "./agent.ts";
export { run as code } from "./code.ts";
export { run as http } from "./http.ts";
export { run as mcp } from "./mcp.ts";
export { run as memory } from "./memory.ts";
export { run as skill } from "./skill.ts";
export { run as webhook } from "./webhook.ts";
