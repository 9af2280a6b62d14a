import { RunnelChat } from "./chat.ts";

// A page may load the script twice.
if (!customElements.get("runnel-chat")) customElements.define("runnel-chat", RunnelChat);
