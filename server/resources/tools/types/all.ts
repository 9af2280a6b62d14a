export { kind as agent } from "./agent.ts";
export { kind as client } from "./client.ts";
export { kind as code } from "./code.ts";
export { kind as email } from "./email.ts";
export { kind as http } from "./http.ts";
export { kind as mcp } from "./mcp.ts";
export { kind as page } from "./page.ts";
export { kind as webhook } from "./webhook.ts";
