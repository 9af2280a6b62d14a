import { createRoot } from "react-dom/client";
import { WholeChat } from "./ui-chat.jsx";
import { Chat } from "./ui-shown.jsx";

// The page of the test: what was said before, and the chat that the test asks for.
const { whole, ...chat } = window.config;
const headers = { Authorization: `Bearer ${chat.token}` };
const before = await fetch(`${chat.url}/ui/v1/agents/${chat.agent}/chat/${chat.id}`, { headers });
const { messages = [] } = await before.json();
const Shown = whole ? WholeChat : Chat;
createRoot(document.getElementById("chat")).render(<Shown {...chat} messages={messages} />);
