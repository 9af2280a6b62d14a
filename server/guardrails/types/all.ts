// Written by `npm run kinds`: what is in this folder.
export { kind as blocked_terms } from "./blocked-terms.ts";
export { kind as json_schema } from "./json-schema.ts";
export { kind as llm_judge } from "./llm-judge.ts";
export { kind as max_length } from "./max-length.ts";
export { kind as pii } from "./pii.ts";
export { kind as regex } from "./regex.ts";
export { kind as secrets } from "./secrets.ts";
export { kind as tool_allowlist } from "./tool-allowlist.ts";
export { kind as url_allowlist } from "./url-allowlist.ts";
