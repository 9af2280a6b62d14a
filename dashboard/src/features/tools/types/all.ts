export { part as agent } from "./agent.tsx";
export { part as client } from "./client.ts";
export { part as code } from "./code.tsx";
export { part as email } from "./email.tsx";
export { part as http } from "./http.tsx";
export { part as mcp } from "./mcp.tsx";
export { part as page } from "./page.tsx";
export { part as webhook } from "./webhook.ts";
